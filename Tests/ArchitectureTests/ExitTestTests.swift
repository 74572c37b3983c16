import Children
import Foundation
import Testing

/// `Tests/Support/ChildWait`, which lets exit tests run beside other children.
@Suite struct ExitTestTests {
  /// Without it, an exit test waits until the other child is reaped, and Swift Testing's loop takes a whole processor.
  @Test func aChildThatHasEndedHoldsUpNoExitTest() async {
    let before = Child(["/bin/true"])
    let process = before.identifier
    // Reaps the other child at last, so that the test fails and does not hang. The exit test waits for its turn among all others.
    let watch = Task {
      guard (try? await Task.sleep(for: .seconds(2400))) != nil else { return false }
      var status: Int32 = 0
      _ = unsafe waitpid(process, &status, 0)
      return true
    }
    await #expect(processExitsWith: .success) {}
    watch.cancel()
    #expect(await !watch.value, "the exit test ended when the other child was reaped")
    before.wait()
  }
}
