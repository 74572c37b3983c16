import Glibc
import Testing

/// Programs whose credentials a sweep has moved, as Debian has them. Its cargo knows no providers; that one was tried with cargo 1.95.
@Suite(.timeLimit(.minutes(60))) struct SweepProgramTests {
  private static func isThere(_ paths: String...) -> Bool { paths.allSatisfy { unsafe access($0, X_OK) == 0 } }

  private static let vault = """
    exec 2>&1
    umask 077; head -c 32 /dev/urandom >key; coffer vault init --key-file key --no-passphrase; coffer vault unlock --key-file key

    """

  private func lines(_ script: String) throws -> [String] {
    let workspace = try Workspace()
    let output = try workspace.run(script: Self.vault + script + "\ncoffer agent stop\n").output
    return output.replacing("\(workspace.path)/", with: "").split(separator: "\n").map(String.init)
  }

  /// A server that says who has asked, by the header or the certificate.
  @Test(.enabled(if: isThere("/usr/bin/kubectl", "/usr/bin/openssl"), "takes kubernetes-client and openssl"))
  func kubectlLogsInWithTokenAndKeyOfTheVault() throws {
    let lines = try lines(
      """
      openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout k -out c -days 2 -subj /CN=localhost \\
        -addext subjectAltName=DNS:localhost 2>/dev/null
      cat >server.py <<X
      import http.server, ssl
      class Server(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
          answer = "%s %s\\\\n" % (self.headers.get("Authorization"), bool(self.connection.getpeercert()))
          self.send_response(200); self.send_header("Content-Length", str(len(answer))); self.end_headers()
          self.wfile.write(answer.encode())
        def log_message(self, *words): pass
      server = http.server.HTTPServer(("localhost", 0), Server)
      context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER); context.load_cert_chain("c", "k")
      context.verify_mode = ssl.CERT_OPTIONAL; context.load_verify_locations("c")
      server.socket = context.wrap_socket(server.socket, server_side=True)
      print(server.server_address[1], flush=True)
      server.serve_forever()
      X
      mkfifo port; python3 server.py >port & server=$!; read -r port <port
      mkdir home/.kube; cat >home/.kube/config <<X
      apiVersion: v1
      kind: Config
      clusters: [{name: here, cluster: {server: "https://localhost:$port"}}]
      X
      cat >home/.kube/config <<X
      apiVersion: v1
      kind: Config
      current-context: here
      clusters:
      - name: here
        cluster:
          server: https://localhost:$port
          certificate-authority-data: $(base64 -w 0 c)
      contexts:
      - name: here
        context:
          cluster: here
          user: bot
      users:
      - name: bot
        user:
          token: t0ken
      - name: admin
        user:
          client-certificate-data: $(base64 -w 0 c)
          client-key-data: $(base64 -w 0 k)
      X
      ask() { kubectl get --raw /; kubectl --user admin get --raw /; }
      cp home/.kube/config made; ask; coffer sweep --move --force >said 2>&1; grep -c -e t0ken -e "$(base64 -w 0 k)" home/.kube/config; ask
      coffer sweep --undo >said; cmp home/.kube/config made; ask; kill $server
      """)
    let both = ["Bearer t0ken False", "None True"]
    #expect(lines == both + ["0"] + both + both, "\(lines)")
  }

  /// The file is gone; ssh finds the key by the public one that stays. A second key is encrypted, a third one has a certificate.
  @Test(.enabled(if: isThere("/usr/bin/ssh-agent", "/usr/sbin/sshd"), "takes openssh-client and openssh-server"))
  func sshLogsInWithAKeyThatIsNoFileAnyMore() throws {
    let lines = try lines(
      """
      mkdir home/.ssh; [ "$(id -u)" -ne 0 ] || mkdir -p /run/sshd; cd home/.ssh
      for type in ed25519 ecdsa rsa; do ssh-keygen -q -t $type -N '' -C "ada@$type" -f id_$type; done; chmod 400 id_ecdsa
      ssh-keygen -q -t ed25519 -N 'open sesame' -f id_closed; ssh-keygen -q -t ed25519 -N '' -f id_certified; ssh-keygen -q -t ed25519 -N '' -f "id_own (2)"
      ssh-keygen -q -s id_rsa -I ada -n ada id_certified.pub; cp -a . ../made; cd ../..; ssh-keygen -q -t ed25519 -N '' -f host
      cat home/.ssh/id_*.pub >authorized; echo "git.example.org $(cut -d' ' -f1,2 host.pub)" >known
      printf '%s\\n' "AuthorizedKeysFile $W/authorized" 'StrictModes no' 'PidFile none' 'UsePAM no' \\
        'PasswordAuthentication no' 'KbdInteractiveAuthentication no' >sshd_config
      login() { ssh -F none -o ProxyCommand="/usr/sbin/sshd -i -f $W/sshd_config -h $W/host" -o HostKeyAlias=git.example.org \\
        -o UserKnownHostsFile=$W/known -o BatchMode=yes -o IdentitiesOnly=yes -o IdentityFile="$W/home/.ssh/$1" "$(id -un)@x" echo in by $1 2>/dev/null || echo refused $1; }
      coffer sweep 2>said | cut -f 3-; ssh-agent >other; . ./other >/dev/null; coffer sweep 2>said | cut -f 3- | sed -n 2p; ssh-agent -k >/dev/null
      eval "$(coffer-ssh-agent -s)" >/dev/null
      cp home/.ssh/id_rsa home/.ssh/.id_rsa.0123456789abcdef.new; coffer sweep --move --force 2>said | cut -f 3-; ls -A home/.ssh | grep -v pub; login id_ed25519; login id_ecdsa; login id_rsa; login id_closed
      echo m >m; ssh-keygen -q -Y sign -n file -f home/.ssh/id_ecdsa.pub m >/dev/null 2>&1 && echo signed
      coffer sweep --undo; diff -r home/.ssh home/made; stat -c %a home/.ssh/id_ecdsa; ssh-add -l; coffer list; ls coffer/state/ssh
      coffer ssh add home/.ssh/id_rsa --name id_ecdsa; chmod 600 home/.ssh/id_ecdsa; coffer sweep home/.ssh/id_ecdsa --move --force 2>&1 >said; ls home/.ssh/id_ecdsa
      coffer ssh rm id_ecdsa --force 2>/dev/null; mv coffer/run/ssh.sock away; python3 -c 'import socket; s = socket.socket(socket.AF_UNIX); s.bind("coffer/run/ssh.sock")'
      coffer sweep home/.ssh/id_ecdsa --move --force 2>&1 >said; ls home/.ssh/id_ecdsa; rm coffer/run/ssh.sock; mv away coffer/run/ssh.sock
      mkdir bin; printf '#!/bin/sh\\necho x >>%s/home/.ssh/id_ecdsa; exec /usr/bin/ssh-add "$@"\\n' "$W" >bin/ssh-add; chmod +x bin/ssh-add
      PATH=$W/bin:$PATH coffer sweep home/.ssh/id_ecdsa --move --force 2>&1 >said; tail -c 2 home/.ssh/id_ecdsa
      printf '#!/bin/sh\\nexec /usr/bin/ssh-add "$@" %s/home/.ssh/id_ed25519\\n' "$W" >bin/ssh-add
      PATH=$W/bin:$PATH coffer sweep home/.ssh/id_ecdsa --move --force 2>&1 >said; ls home/.ssh/id_ecdsa
      strace -f -qq -o trace -e trace=rename,renameat2 -e inject=rename,renameat2:signal=SIGSTOP:when=1 coffer sweep home/.ssh/id_rsa --move --force >said 2>other &
      until grep -q 'stopped by SIGSTOP' trace 2>/dev/null || ! kill -0 $! 2>/dev/null; do sleep 0.05; done
      coffer ssh rm id_rsa --force 2>/dev/null; coffer ssh add home/.ssh/id_ed25519 --name id_rsa 2>/dev/null
      kill -CONT $(sed -n 's/ *--- stopped by SIGSTOP.*//p' trace); wait $!; sed '/^strace: ptrace(PTRACE_LISTEN/d' other; ls home/.ssh/id_rsa; coffer ssh rm id_rsa --force 2>/dev/null
      PATH=$(dirname "$(command -v coffer)") coffer sweep home/.ssh/id_rsa 2>said | cut -f 4; ln home/.ssh/id_rsa second-name
      coffer sweep home/.ssh/id_rsa --move --force 2>&1 >said; rm second-name
      coffer vault init --vault second --key-file key --no-passphrase 2>/dev/null; coffer sweep --vault second --key-file key home/.ssh/id_rsa --move --force 2>&1 >said; ls home/.ssh/id_rsa; coffer-ssh-agent -k >/dev/null
      """)
    let elsewhere = "stays: ssh does not ask coffer-ssh-agent; ssh-keygen -p gives the key a passphrase"
    let others = [
      "id_certified\tstays: it has a certificate: coffer ssh add keeps both",
      "id_own (2)\tstays: a key of the vault takes another name: coffer ssh add --name",
    ]
    #expect(
      lines == [
        others[0], "id_ecdsa\t\(elsewhere)", "id_ed25519\t\(elsewhere)", others[1], "id_rsa\t\(elsewhere)",
        "id_ecdsa\t\(elsewhere)",
      ] + ["id_ecdsa", "id_ed25519", "id_rsa"].map { "\($0)\tmoved to coffer://ssh/\($0)/" } + others + [
        "id_certified", "id_closed", "id_own (2)", "in by id_ed25519", "in by id_ecdsa", "in by id_rsa", "refused id_closed",
        "signed",
        "home/.ssh/id_ecdsa: as it was before the sweep", "home/.ssh/id_ed25519: as it was before the sweep",
        "home/.ssh/id_rsa: as it was before the sweep", "400", "The agent has no identities.",
        "coffer: id_ecdsa: there is another key of this name, or this one with other rules; home/.ssh/id_ecdsa stays",
        "hint: coffer ssh add --name keeps it under another one", "home/.ssh/id_ecdsa",
        "coffer: home/.ssh/id_ecdsa: coffer-ssh-agent does not list the key of the vault; the file stays",
        "hint: start it: coffer-ssh-agent(8)", "home/.ssh/id_ecdsa",
        "coffer: home/.ssh/id_ecdsa: another program has changed it at this moment", "hint: the same command again", "x",
        "coffer: home/.ssh/id_ecdsa: ssh-add has added 2 keys of it; the file stays", "home/.ssh/id_ecdsa",
        "coffer: home/.ssh/id_rsa: the vault does not give the key back; the file stays", "home/.ssh/id_rsa",
        "stays: ssh-add is not in PATH", "coffer: home/.ssh/id_rsa: has 2 names, and another one would keep the secret",
        "hint: remove the other links",
        "coffer: --vault: the agent for ssh uses the user's own vault only", "home/.ssh/id_rsa",
      ], "\(lines)")
  }
}
