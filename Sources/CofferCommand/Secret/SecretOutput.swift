import CofferConsole
import SecretMemory

extension Secret {
  /// To `descriptor` as it is; with a line end where a person reads it.
  borrowing func write(to descriptor: Descriptor) throws {
    try withBytes { try descriptor.write($0) }
    if descriptor.isTerminal { try descriptor.write("\n") }
  }
}

extension Descriptor {
  /// A line of JSON: an object whose last member is a secret, which goes out from locked memory.
  /// - Parameter text: Needs no escapes.
  func write(_ members: [(String, JSON)], _ name: String, _ text: borrowing Secret) throws {
    try write(String(JSON.object(members).description.dropLast()) + ",\"\(name)\":\"")
    try text.withBytes { try write($0) }
    try write("\"}\n")
  }
}

/// Shows a recovery key, the only time that it can be shown.
enum RecoveryKeyOutput {
  /// Standard output has the key and a line end; what it is for goes beside it.
  /// - Throws: I/O, also if a file that it goes to is not on the disk: some file systems report a full disk only then.
  static func print(_ text: borrowing Secret) throws {
    if Descriptor.output.isTerminal {
      Descriptor.error.note("Recovery key. Write it down and keep it elsewhere; it is not shown again:\n")
    }
    try text.withBytes { try Descriptor.output.write($0) }
    try Descriptor.output.write("\n")
    try Descriptor.output.synchronize()
  }
}
