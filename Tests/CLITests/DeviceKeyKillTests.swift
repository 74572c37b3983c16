import Testing

/// `coffer vault rotate --device-key`, killed before its system calls, or with errors of the disk: items of this device open, also one that
/// is added before the next rotation, which completes.
@Suite struct DeviceKeyKillTests {
  /// Whether the vault has a key of its own, or uses the one that vaults of before share.
  enum Present: String, CaseIterable { case own, shared }

  private static let rotate = "coffer vault rotate --device-key --master-only --force --key-file key"

  /// A vault with items of this device in two groups, one of them with a former version; `expected` is what it has.
  private static func checking(_ command: String, _ present: Present) -> String {
    """
    umask 077
    content() {
      for name in here/1 --group=team\\ here/2 mail/1; do echo "$name $(coffer secret get $name --key-file key)"; done
      coffer secret get here/1 --version $(cat version) --key-file key; echo
    }
    [ -e expected ] || {
      head -c 32 /dev/urandom >key; coffer vault init --key-file key --no-passphrase
      [ \(present) = own ] || head -c 32 /dev/urandom >coffer/state/device.key
      printf one | coffer secret set here/1 --accessible when-unlocked-this-device --key-file key 2>said
      printf two | coffer secret set --group team --create-group here/2 --accessible after-first-unlock-this-device --key-file key
      printf all | coffer secret set mail/1 --key-file key; printf newer | coffer secret set here/1 --update --key-file key 2>said
      coffer secret history here/1 --key-file key | tail -n 1 | cut -f 1 >version
      content >expected; cat coffer/state/device*.key >before; mv coffer template
    }
    rm -rf coffer; cp -a template coffer
    $inject \(command) >said 2>&1
    status=$?
    [ $status = 137 ] || [ $status = 12 ] || [ $status = 0 ] || { echo "$call $when: ended with $status"; cat said; }
    content >found 2>&1; cmp -s expected found || { echo "$call $when: something is lost"; diff expected found; }
    coffer vault verify --key-file key >said 2>&1; grep -q 'records, all sound' said || { echo "$call $when:"; cat said; }
    coffer vault rotate --group team --force --key-file key >said 2>&1 || { echo "$call $when: new keys for a group:"; cat said; }
    grep -q 'master key 2' said && ls coffer/state/*.new 2>/dev/null && echo "$call $when: a key that is in force is not in its place"
    content >found 2>&1; cmp -s expected found || { echo "$call $when: lost by new keys for a group"; diff expected found; }
    printf late | coffer secret set late/1 --accessible when-unlocked-this-device --key-file key
    \(rotate) >said 2>&1 || { echo "$call $when: the next rotation:"; cat said; }
    content >found 2>&1; cmp -s expected found || { echo "$call $when: lost by the next rotation"; diff expected found; }
    [ "$(coffer secret get late/1 --key-file key)" = late ] || echo "$call $when: an item that was added is lost"
    ls coffer/state/*.new 2>/dev/null && echo "$call $when: a key is left behind"
    cat coffer/state/device-*.key | cmp -s - before && echo "$call $when: the key is the one of before"
    [ $status = 0 ] && ! grep -q INJECTED trace && exit 3; exit 0
    """
  }

  @Test(arguments: [("signal=SIGKILL", Present.own), ("signal=SIGKILL", .shared), ("error=ENOSPC", .own), ("error=EIO", .own)])
  func itemsOfThisDeviceOpen(end: String, present: Present) throws {
    var calls = ["pwrite64", "fdatasync", "fsync", "renameat2", "rename"]
    if end == "signal=SIGKILL" { calls.append("unlink") }
    let injection = Injection(end: end, calls: calls, mustReach: ["pwrite64", "fsync", "rename"])
    let faults = try injection.faults(of: Self.checking(Self.rotate, present), in: Workspace())
    #expect(faults.isEmpty, "\(faults.joined(separator: "\n"))")
  }

  /// The control: the check finds a key that is lost, and one that is not new.
  @Test(arguments: [("own", "cp before coffer/state/device-*.key"), ("kept", "true")])
  func aLostKeyIsFound(name: String, damage: String) throws {
    let script = "call=none when=0 inject=; >trace\n" + Self.checking("sh -c \"\(Self.rotate); \(damage)\"", .own)
    let outcome = try Workspace().run(script: script)
    #expect(outcome.output.contains("something is lost") == (name == "own"), "\(outcome.output)\(outcome.errors)")
  }
}
