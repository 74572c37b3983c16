import Glibc
import Testing

/// `make install` after `make`: it copies, and builds nothing.
@Suite struct InstallTests {
  private static let root = TranscriptTests.directory.split(separator: "/").dropLast(3).map { "/" + $0 }.joined()

  /// `SWIFT=false`: a build would fail. The programs are those that were built beside this test. An uninstallation leaves no file.
  @Test func nothingIsBuiltAndTheProgramsHaveNoSymbols() throws {
    let workspace = try Workspace()
    let outcome = try workspace.run(
      script: """
        set -e
        programs=$(dirname "$(command -v coffer)")
        make -s -C '\(Self.root)' PROGRAMS="$programs" "$programs/pam_coffer.so"
        make -s -C '\(Self.root)' install SWIFT=false CC=false PROGRAMS="$programs" DESTDIR="$W/root" PREFIX=/usr DEFAULTS=1 >make.log 2>&1 ||
          { cat make.log; exit 1; }
        cd root/usr
        ls bin/coffer bin/cofferd libexec/coffer/coffer-logind libexec/coffer/coffer-strength libexec/coffer/coffer-ssh-agent libexec/coffer/coffer-secrets libexec/coffer/coffer-sync share/man/man1/coffer.1 share/zsh/site-functions/_coffer \\
          share/fish/vendor_completions.d/coffer.fish share/bash-completion/completions/coffer lib/systemd/user/cofferd.socket share/xdg-desktop-portal/portals/coffer.portal
        [ $(grep -c "$PWD" share/pam-configs/coffer) = 0 ] && [ -f "${PWD%/usr}$(awk 'NF == 3 { print $2 }' share/pam-configs/coffer)" ]
        for program in bin/coffer bin/cofferd libexec/coffer/coffer-logind libexec/coffer/coffer-strength libexec/coffer/coffer-ssh-agent libexec/coffer/coffer-secrets libexec/coffer/coffer-sync; do
          readelf -SW $program | grep -E '[.](symtab|debug_info) ' && exit 3
        done
        bin/git-credential-coffer capability | head -n 1
        bin/docker-credential-coffer version
        bin/cargo-credential-coffer --cargo-plugin </dev/null | head -n 1
        bin/coffer --version
        make -s -C '\(Self.root)' uninstall DESTDIR="$W/root" PREFIX=/usr
        find . -type f -o -type l
        """)
    #expect(outcome.status == 0, "\(outcome.output) \(outcome.errors)")
    let said = ["version 0", "docker-credential-coffer (coffer) 0.1.0", #"{"v":[1]}"#, "0.1.0", ""]
    #expect(outcome.output.hasSuffix("_coffer\n" + said.joined(separator: "\n")), "\(outcome.output)")
  }
}

/// The completion scripts where the README puts them, in the shells themselves. `Scripts/setup --tests` installs both.
@Suite struct CompletionTests {
  private static let install = """
    set -e
    mkdir -p ~/.local/share/zsh/site-functions ~/.config/fish/completions
    coffer completion zsh >~/.local/share/zsh/site-functions/_coffer
    coffer completion fish >~/.config/fish/completions/coffer.fish

    """

  @Test func fishCompletes() throws {
    let outcome = try Workspace().run(
      script: Self.install
        + "fish -c \"complete -C 'coffer sec'; complete -C 'coffer secret get --js'; complete -C 'coffer completion z'\"")
    #expect(outcome.status == 0, "fish: \(outcome.errors)")
    #expect(
      outcome.output.split(separator: "\n").map { $0.prefix { $0 != "\t" } } == ["secret", "--json", "zsh"], "\(outcome.output)")
  }

  /// In a zsh on a terminal of its own: what a person sees after the key.
  @Test func zshCompletes() throws {
    let script = #"""
      zmodload zsh/zpty
      zpty shell zsh -f -i
      zpty -w shell 'fpath=(~/.local/share/zsh/site-functions $fpath); autoload -Uz compinit; compinit -u; print ready-$((1+1))'
      zpty -r -m shell seen '*ready-2*' || exit 3
      zpty -w -n shell $'coffer sec\t'
      zpty -r -m shell seen '*coffer secret*' || exit 4
      zpty -w -n shell $'ge\t'
      zpty -r -m shell seen '*get*' || exit 5
      zpty -d shell
      print completed
      """#
    let outcome = try Workspace().run(script: Self.install + "cat >script <<'END'\n\(script)\nEND\ntimeout 25 zsh -f script")
    #expect(
      outcome.status == 0 && outcome.output == "completed\n", "zsh: \(outcome.status ?? -1) \(outcome.output) \(outcome.errors)")
  }
}
