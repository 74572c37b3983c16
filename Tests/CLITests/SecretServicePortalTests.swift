import Testing

/// The keys that `coffer-secrets` keeps for apps in sandboxes.
@Suite struct SecretServicePortalTests {
  private static let packaging =
    TranscriptTests.directory.dropLast("Tests/CLITests/Transcripts".utf8.count) + "Packaging/portal"

  @Test func anAppHasAKeyThatStays() throws {
    let output = try SecretServiceTests.output(
      """
      coffer vault init --key-file key --no-passphrase; secrets; client app_unheard; coffer vault unlock --key-file key
      client app_keys one; client app_twice; coffer secret list --group secret-service/portal | grep -c '^portal/org.example'
      kill $secrets; wait $secrets 2>/dev/null; secrets; client app_key_again one
      coffer vault lock; client app_key_again one; end 2>/dev/null
      """)
    #expect(output == "good\ngood\ngood\n3\ngood\ngood\n", "\(output)")
  }

  @Test func whatTakesNothingStopsNobody() throws {
    let output = try SecretServiceTests.output("\(SecretServiceTests.unlocked)\nclient app_bad; end")
    #expect(output == "good\n", "\(output)")
  }

  @Test func theOwnerIsAskedAndARequestMayBeClosed() throws {
    let output = try SecretServiceTests.output(
      """
      \(SecretServiceTests.slowOwner)
      secrets; client app_closed home/asked; coffer agent stop; client app_asked; wc -l <home/asked; end
      """)
    #expect(output == "good\ngood\n2\n", "\(output)")
  }

  @Test func theRequestsOfAPortalThatHasGoneGoWithIt() throws {
    let output = try SecretServiceTests.output("\(SecretServiceTests.slowOwner)\nsecrets; client app_gone home/asked; end")
    #expect(output == "good\n", "\(output)")
  }

  /// Debian's xdg-desktop-portal takes an app from a file of its sandbox. libsecret there keeps a file, which it encrypts with the key.
  /// On a busy machine, libsecret 0.20 may begin to listen when the portal has answered. It then waits for ever, and is started again.
  @Test(.enabled(if: AppRunTests.isSandboxPossible(), "bwrap cannot make namespaces here"))
  func libsecretInASandboxKeepsItsFile() throws {
    let output = try SecretServiceTests.output(
      """
      \(SecretServiceTests.unlocked)
      mkdir -m 700 runtime
      XDG_DESKTOP_PORTAL_DIR=\(Self.packaging) XDG_RUNTIME_DIR=$W/runtime /usr/libexec/xdg-desktop-portal >portal.log 2>&1 & portal=$!
      owner() { dbus-send --print-reply --dest=org.freedesktop.DBus / org.freedesktop.DBus.NameHasOwner string:org.freedesktop.portal.Desktop; }
      until owner | grep -q true; do sleep 0.05; done
      client app_by_the_portal; grep -c 'failed: the name of the app$' portal.log
      boxed() {
        printf '[Application]\\nname=org.example.%s\\n[Instance]\\ninstance-id=1\\n' $1 >info; shift; status=124
        while [ $status = 124 ]; do timeout 30 bwrap --unsetenv LD_PRELOAD --ro-bind /usr /usr --symlink usr/bin /bin --symlink usr/lib /lib --symlink usr/lib64 /lib64 --ro-bind /etc /etc --bind $W $W \\
          --chdir $W --ro-bind \(SecretServiceTests.clients) /clients.py --proc /proc --dev /dev --ro-bind-data 9 /.flatpak-info "$@" 9<info; status=$?; done; return $status
      }
      boxed One /usr/bin/python3 /clients.py app_by_the_portal
      echo hello >hello; boxed One sh -c 'secret-tool store --label=L a b <hello'; boxed One secret-tool lookup a b
      coffer vault lock; coffer agent stop; boxed One secret-tool lookup a b; echo $?; coffer vault unlock --key-file key
      boxed One secret-tool lookup a b; boxed Two secret-tool lookup a b; echo $?
      coffer secret list --group secret-service/portal | cut -f 1; coffer secret list --group secret-service/login; echo $?
      coffer app log --json | grep 'group":"secret-service/portal' | grep -o '"executable":"[^"]*"' | grep ' for ' | sort -u
      kill $portal; end
      """)
    #expect(
      output == """
        2 {} 0
        good
        1
        0 {} 64
        good
        hello
        secret-tool: user interaction failed
        1
        hello
        1
        portal/org.example.One
        portal/org.example.Two
        coffer: group secret-service/login: does not exist
          group default
          group secret-service/portal
        hint: --group names one of these
        3
        "executable":"coffer-secrets for /usr/libexec/xdg-desktop-portal"

        """, "\(output)")
  }

  /// The portal of Debian 12 reads one directory alone.
  @Test func anotherPrefixIsNamed() throws {
    let output = try SecretServiceTests.output(
      """
      mkdir -p prefix/bin prefix/libexec/coffer prefix/share/xdg-desktop-portal/portals portals
      cp "$(command -v coffer)" prefix/bin; cp "$(command -v coffer-secrets)" prefix/libexec/coffer
      export XDG_DESKTOP_PORTAL_DIR=$W/portals; prefix/bin/coffer bus enable
      cp \(Self.packaging)/coffer.portal prefix/share/xdg-desktop-portal/portals
      prefix/bin/coffer bus enable 2>&1 | sed "s|$W|W|g"; prefix/bin/coffer bus enable 2>&1 | sed -n 's/^  sudo //p' | sh
      prefix/bin/coffer bus enable; rm portals/*; touch portals/gnome-keyring.portal; prefix/bin/coffer bus enable; kill $bus; wait
      """)
    #expect(
      output == """
        note: xdg-desktop-portal does not find Coffer, so that apps in a sandbox get no key; before version 1.18 it reads one directory:
          sudo ln -s W/prefix/share/xdg-desktop-portal/portals/coffer.portal W/portals

        """, "\(output)")
  }
}
