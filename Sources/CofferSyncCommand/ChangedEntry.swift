import CofferConsole
import CofferSync
import SyncEngines
import VaultSync

/// The entry of the engine that is another one than this device has read.
struct ChangedEntry {
  private let difference: Replica.Difference
  private let place: String

  /// - Returns: nil if there is none.
  /// - Throws: errors of the engine.
  init?(of session: SpaceSession, in engine: any Engine) throws {
    guard let difference = try session.state.replica.difference(in: engine) else { return nil }
    self.difference = difference
    place = try OpenSpace.address(session.state.engine).place(of: difference.number, in: session.keys.space)
  }

  /// Whether a device cannot have made it: the way out is to remove it, and not to go on with such a log.
  var isDamaged: Bool { difference.author == nil }

  var text: String {
    guard let author = difference.author else {
      return "entry \(difference.number) is damaged, or another program has made it: \(place)"
    }
    return "entry \(difference.number) is another one than before, of \(author.name) of \(author.person)"
  }

  static let remedy = "remove it, and run coffer sync now: a device that has the entry puts it back"

  /// Tells which one it is, if the device has stopped because of it.
  /// - Throws: the error of `body`.
  static func naming<Result>(in session: SpaceSession, _ engine: any Engine, _ body: () throws -> Result) throws -> Result {
    do {
      return try body()
    } catch Halt.replaced {
      // The error that comes next says what has happened.
      if let entry = try? ChangedEntry(of: session, in: engine) {
        Descriptor.error.note("note: \(entry.text.escapingControls())\n")
        if entry.isDamaged { Descriptor.error.note("note: \(remedy)\n") }
      }
      throw Halt.replaced
    }
  }
}
