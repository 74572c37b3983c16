import Testing

/// A complete app that a kill has left beside its place, and one that was half removed, while the system cannot open or read a file for
/// once: nothing may be deleted for that. Tried with each call of the system in turn.
@Suite struct AppReadErrorTests {
  struct Fault: Sendable, CustomTestStringConvertible {
    let call: String
    let error: String
    let state: String
    var testDescription: String { "\(call) \(error), \(state)" }
  }

  static let faults = ["ready", "removing"].flatMap { state in
    [("openat", "EMFILE"), ("openat", "EACCES"), ("read", "EIO")].map { Fault(call: $0.0, error: $0.1, state: state) }
  }

  /// $1 is the call, $2 the error, $3 which of them, $4 the state. Ends with 3 if there were not so many calls.
  private static let checking = """
    rm -rf coffer 2>/dev/null || { chmod -R u+rwx coffer; rm -rf coffer; }; cp -a template coffer; name=$(cat name)
    mv coffer/Apps/$name coffer/Apps/.$name.$4
    strace -f -qq -o trace -e trace=$1 -e inject=$1:error=$2:when=$3 coffer app list --key-file key >/dev/null 2>&1
    grep -q INJECTED trace || exit 3
    coffer app list --key-file key 2>&1 | cut -f 3,4; coffer/Apps/$name/bin/editor; cat coffer/Containers/$name/Documents/kept
    """

  @Test(arguments: faults) func filesWithATransientReadErrorAreNotDeleted(fault: Fault) throws {
    let workspace = try Workspace()
    for script in [AppKillTests.preparation, AppKillTests.installed] {
      let prepared = try workspace.run(script: script)
      try #require(prepared.status == 0, "\(prepared.errors)")
    }
    var count = 0
    while count < 400 {
      let arguments = "set -- \(fault.call) \(fault.error) \(count + 1) \(fault.state)"
      let outcome = try workspace.run(script: "\(arguments)\n\(Self.checking)")
      guard outcome.status != 3 else { break }
      #expect(outcome.output == "1\tinstalled\n1\nkept\n", "\(fault.call) \(count + 1): \(outcome)")
      count += 1
    }
    #expect(count > 5 && count < 400)
  }
}
