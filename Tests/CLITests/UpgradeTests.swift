import Testing

/// New files take the place of programs that stay. Nothing is refused meanwhile, and they become the new ones.
@Suite struct UpgradeTests {
  /// Copies the programs, so that others take their places.
  private static let copies = """
    mkdir programs; for name in coffer cofferd coffer-secrets coffer-sync; do cp "$(command -v $name)" programs; done
    PATH=$W/programs:$PATH; hash -r
    coffer vault init --key-file key --no-passphrase; coffer vault unlock --key-file key
    upgrade() { for name in coffer cofferd coffer-secrets coffer-sync; do cp programs/$name new; mv new programs/$name; done; }
    becomes() { until test "$(readlink /proc/$1/exe)" = "$W/programs/$2"; do sleep 0.05; done; }
    """

  @Test func theSecretService() throws {
    let output = try SecretServiceTests.output(
      """
      \(Self.copies)
      coffer-secrets & secrets=$!; until coffer bus status | grep -q "process $secrets$"; do sleep 0.05; done
      printf one | secret-tool store --label=L a b
      upgrade; secret-tool lookup a b; echo
      becomes $secrets coffer-secrets; until secret-tool lookup a b 2>/dev/null; do sleep 0.05; done; echo
      coffer agent stop; coffer vault unlock --key-file key; secret-tool lookup a b; echo
      kill $secrets; coffer agent stop; kill $bus; wait
      """)
    #expect(output == "one\none\none\n", "\(output)")
  }

  @Test func theProgramThatSynchronises() throws {
    let output = try SecretServiceTests.output(
      """
      \(Self.copies)
      mkdir srv; coffer sync init dir:$W/srv --personal --person ada --device desk 2>/dev/null
      coffer sync watch & watch=$!; becomes $watch coffer-sync
      entries() { ls srv/coffer/1/*/log | wc -l; }
      sent() { count=$(entries); printf one | coffer set $1; until test $(entries) -gt $count; do sleep 0.05; done; echo $1; }
      sent a; upgrade; sent b; becomes $watch coffer-sync; sent c
      coffer agent stop; coffer vault unlock --key-file key; sent d
      kill $watch; wait $watch; echo $?; coffer agent stop; kill $bus; wait
      """)
    #expect(output == "a\nb\nc\nd\n0\n", "\(output)")
  }

  /// Not the files alone, but their directory: by a deletion, or by a rename. The first look is over by then. The new program notes that
  /// it waits for an agent.
  @Test(arguments: [
    "cp -a programs new; rm -r programs; sleep 3; mv new programs", "cp -a programs new; rm -r programs; cp -a new programs",
    "cp -a programs new; mv programs old; mv new programs",
  ]) func inAnotherDirectory(upgrade: String) throws {
    let output = try SecretServiceTests.output(
      """
      \(Self.copies)
      mkdir srv; coffer sync init dir:$W/srv --personal --person ada --device desk 2>/dev/null
      coffer-secrets & secrets=$!; until coffer bus status | grep -q "process $secrets$"; do sleep 0.05; done
      coffer sync watch 2>>notes & watch=$!; becomes $watch coffer-sync
      sleep 2; \(upgrade)
      becomes $secrets coffer-secrets; becomes $watch coffer-sync; cmp /proc/$watch/exe programs/coffer-sync
      coffer agent stop; coffer vault unlock --key-file key
      until printf one | secret-tool store --label=L a b 2>/dev/null; do sleep 0.05; done; secret-tool lookup a b; echo
      count=$(ls srv/coffer/1/*/log | wc -l); printf one | coffer set a
      until test $(ls srv/coffer/1/*/log | wc -l) -gt $count; do sleep 0.05; done; echo sent
      kill $watch $secrets; wait $watch; echo $?; coffer agent stop; kill $bus; wait
      """)
    #expect(output == "one\nsent\n0\n", "\(output)")
  }
}
