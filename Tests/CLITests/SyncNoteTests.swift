import CofferConsole
import CofferSync
import Testing

@testable import VaultSync
@testable import coffer_sync

/// Notes on the engine after a pass of sync.
@Suite struct SyncNoteTests {
  private struct Refusal: Error {}

  private static func notes(_ change: (inout SyncReport) -> Void) -> [String] {
    var report = SyncReport()
    change(&report)
    return SyncNow.notes(on: report)
  }

  /// The agent ends a watch if the vault has new keys. It is not asked again and again if it refuses each one.
  @Test func aWatchThatEndsBeginsAgainSoon() {
    var pause = WatchPause()
    #expect((0..<8).map { _ in pause.next(after: .seconds(1)) } == [1, 2, 4, 8, 16, 32, 60, 60])
    #expect(pause.next(after: .seconds(60)) == 1)
  }

  /// Two errors that take turns, as a program that stays meets them while the engine is away.
  @Test func aMessageIsToldOnce() {
    var told = ToldMessage()
    let news = ["away 12", "busy", "away 34", "busy", "", "busy"].map { told.isNew($0) }
    #expect(news == [true, true, false, false, false, true])
  }

  /// It is a member, although its join has failed.
  @Test(arguments: [(true, "is a device of the space now"), (false, "becomes a device of the space")])
  func anErrorNamesTheDeviceThatWasAdded(isMember: Bool, words: String) {
    let new = DeviceRecord(
      signingKey: [UInt8](repeating: 1, count: 32), boxKey: [UInt8](repeating: 2, count: 32), role: .member, person: "ada",
      name: "box")
    let failure = SyncAdd.failure(SyncError(.joinEnded), after: new, isMember: isMember)
    #expect(failure.message.hasPrefix("box \(words)") && failure.message.hasSuffix("the other device has ended its join"))
    #expect(failure.status == .notFound && failure.hint?.hasSuffix("coffer sync remove \(new.shortIdentifier)") == true)
  }

  @Test func eachSignHasANote() {
    #expect(Self.notes { _ in }.isEmpty)
    let notes = [
      Self.notes { $0.inspection.lacksEntries = true }, Self.notes { $0.inspection.unrestored = Refusal() },
      Self.notes { $0.lacksParts = true }, Self.notes { $0.inspection.undeleted = Refusal() },
    ]
    #expect(notes.allSatisfy { $0.count == 1 })
    let words = [
      "no device can join unless another one has them", "were not put back: Refusal()",
      "no device can join until an owner has run coffer sync now", "the engine keeps entries that no device needs: Refusal()",
    ]
    for (note, words) in zip(notes.joined(), words) { #expect(note.contains(words)) }
  }
}
