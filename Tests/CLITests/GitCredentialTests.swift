import Testing

/// `coffer` as the helper of the real git, which `Scripts/setup` finds where Swift is.
@Suite struct GitCredentialTests {
  private static let server =
    TranscriptTests.directory.dropLast("CLITests/Transcripts".utf8.count) + "Support/GitServer/server.py"

  /// A vault that is unlocked, and an askpass that answers and counts. Each answer of git is followed by what it has asked.
  private static let preparation = """
    exec 2>&1
    umask 077; mkdir bin; ln -s "$(command -v coffer)" bin/git-credential-coffer; export PATH="$W/bin:$PATH"
    export GIT_CONFIG_NOSYSTEM=1 GIT_TERMINAL_PROMPT=0 GIT_ASKPASS="$W/askpass"
    git config --global credential.helper coffer; git config --global user.name Ada; git config --global user.email ada@example.com
    git config --global init.defaultBranch main
    printf '%s\\n' '#!/bin/sh' 'echo "$1" >>"$W/asked"' \\
      'case "$1" in Username*) cat "$W/user" ;; *) cat "$W/password" ;; esac' >askpass; chmod +x askpass
    printf asked-user >user; printf asked-password >password; : >asked
    head -c 32 /dev/urandom >key; coffer vault init --key-file key --no-passphrase >/dev/null; coffer vault unlock --key-file key
    credential() { action=$1; shift; printf '%s\\n' "$@" | git credential $action; echo "$(wc -l <asked)" asked; : >asked; }

    """

  /// The cases of t0303-credential-external.sh, which git has for the helpers of others.
  @Test func casesOfGitsOwnTests() throws {
    let outcome = try Workspace().run(
      script: Self.preparation + """
        fill() { echo $(credential fill "$@"); }
        E='protocol=https host=example.com'
        echo no data; fill $E
        echo stores; credential approve $E username=store-user password=store-pass; fill $E
        echo protocol; fill protocol=http host=example.com
        echo host; fill protocol=https host=other.tld
        echo user; fill $E username=other
        git config --global credential.useHttpPath true
        echo path; P='protocol=http host=path.tld'; credential approve $P path=foo.git username=user password=pass
        fill $P path=bar.git; fill $P path=foo.git
        git config --global --unset credential.useHttpPath
        echo forgets a host; credential reject $E; fill $E
        echo several users; credential approve $E username=user1 password=pass1; credential approve $E username=user2 password=pass2
        fill $E username=user1; fill $E username=user2
        echo forgets a user; credential reject $E username=user1; fill $E username=user1; fill $E username=user2
        echo empty user; credential approve protocol=https host=sso.tld username= password=; fill protocol=https host=sso.tld
        echo locked; coffer lock; fill $E username=user2
        coffer agent stop
        """)
    let lines = outcome.output.replacing("asked-", with: "").split(separator: "\n").map(String.init)
    #expect(
      lines == [
        "no data", "protocol=https host=example.com username=user password=password 2 asked",
        "stores", "0 asked", "protocol=https host=example.com username=store-user password=store-pass 0 asked",
        "protocol", "protocol=http host=example.com username=user password=password 2 asked",
        "host", "protocol=https host=other.tld username=user password=password 2 asked",
        "user", "protocol=https host=example.com username=other password=password 1 asked",
        "path", "0 asked", "protocol=http host=path.tld path=bar.git username=user password=password 2 asked",
        "protocol=http host=path.tld path=foo.git username=user password=pass 0 asked",
        "forgets a host", "0 asked", "protocol=https host=example.com username=user password=password 2 asked",
        "several users", "0 asked", "0 asked", "protocol=https host=example.com username=user1 password=pass1 0 asked",
        "protocol=https host=example.com username=user2 password=pass2 0 asked",
        "forgets a user", "0 asked", "protocol=https host=example.com username=user1 password=password 1 asked",
        "protocol=https host=example.com username=user2 password=pass2 0 asked",
        "empty user", "0 asked", "protocol=https host=sso.tld username= password= 0 asked",
        "locked",
        "coffer: https://example.com: is locked", "hint: coffer vault unlock",
        "fatal: credential helper 'coffer' told us to quit", "0 asked",
      ], "\(outcome.output)")
  }

  /// Clone, fetch and push over HTTP: a password is asked for once, and again when the server takes another one.
  @Test func repositoriesOverHTTP() throws {
    let outcome = try Workspace().run(
      script: Self.preparation + """
        git init -q --bare repositories/one.git; git -C repositories/one.git config http.receivepack true
        printf 'ada:first\\n' >users; mkfifo end; : >log
        python3 '\(Self.server)' "$W/repositories" "$W/users" "$W/log" <end & server=$!
        exec 9>end
        until [ -s log ]; do sleep 0.05; done
        host=127.0.0.1:$(head -n 1 log); url=http://$host/one.git; : >log
        step() { echo "== $1"; shift; "$@" >said 2>&1; echo "status $?, $(wc -l <asked) asked, users: $(sort -u log | tr '\\n' ' ')"; : >asked; : >log; }
        generation() { coffer vault status | grep generation; }
        printf ada >user; printf first >password
        step clone git clone -q $url work
        cd work; echo text >file; git add file; git commit -q -m first; cd ..
        generation >before
        step push git -C work push -q origin main
        step fetch git -C work fetch -q
        generation | cmp - before && echo nothing written
        printf 'ada:second\\ngrace:third\\n' >users
        step refused git -C work fetch -q
        printf second >password
        step changed git -C work fetch -q
        step again git -C work fetch -q
        coffer lock
        step locked git -C work fetch -q
        tail -n 1 said
        coffer vault unlock --key-file key
        printf third | coffer set $host/grace
        step internet git -C work fetch -q
        coffer credential git prefer grace $host
        step preferred git -C work fetch -q
        step named git -C work fetch -q http://ada@$host/one.git main
        git -C work config credential.useHttpPath true
        coffer credential git prefer ada $host/one.git
        step path git -C work fetch -q
        exec 9>&-; wait $server
        coffer agent stop
        """)
    #expect(
      outcome.output.split(separator: "\n").map(String.init) == [
        "== clone", "status 0, 2 asked, users: - ada ", "== push", "status 0, 0 asked, users: - ada ",
        "== fetch", "status 0, 0 asked, users: - ada ", "nothing written",
        // The password of the vault and the one that was typed are wrong.
        "== refused", "status 128, 0 asked, users: - ",
        "== changed", "status 0, 2 asked, users: - ada ", "== again", "status 0, 0 asked, users: - ada ",
        "== locked", "status 128, 0 asked, users: - ", "fatal: credential helper 'coffer' told us to quit",
        "== internet", "status 0, 0 asked, users: - ada ", "== preferred", "status 0, 0 asked, users: - grace ",
        "== named", "status 0, 0 asked, users: - ada ", "== path", "status 0, 0 asked, users: - ada ",
      ], "\(outcome.output)")
  }
}
