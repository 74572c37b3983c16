internal import CLinux
internal import CofferFiles
internal import Glibc
package import SecretMemory
import VaultCore

/// A random number that the agent sends before it takes a client for an app or the command, and that the client returns.
///
/// The client returns it in one message that carries a descriptor (`SCM_RIGHTS`). A filter whose standard output is a connection
/// of another program's writes bytes to it and sends no descriptors, so no process can speak through the filter as the filter.
package struct Challenge: Error, Equatable, Sendable {
  private static let byteCount = 16

  private let number: [UInt8]

  /// - Throws: `VaultError` of locked memory.
  package static func random() throws -> Challenge {
    Challenge(number: try Secret.random(count: byteCount).copyIntoUnprotectedBytes())
  }

  private init(number: [UInt8]) { self.number = number }

  private var fields: Attributes {
    var fields = Attributes()
    fields["number"] = .data(number)
    return fields
  }

  /// The agent's frame.
  /// - Throws: `VaultError` of locked memory.
  package func frame(request: UInt64) throws -> Secret { try Message(fields: fields).frame(.challenge, request: request) }

  /// The client's response; its bytes do not depend on the request.
  /// - Throws: `VaultError` of locked memory.
  package func response() throws -> [UInt8] {
    try Message(fields: fields).frame(.introduce, request: 0).copyIntoUnprotectedBytes()
  }

  /// - Throws: `WireError`: `malformed`, `field`.
  package init(_ message: borrowing Message) throws(WireError) {
    guard case .data(let number)? = message.fields["number"], number.count == Self.byteCount, message.fields.count == 1 else {
      throw WireError(.field, "number")
    }
    self.number = number
    try message.expectNothingElse()
  }
}

extension FrameChannel {
  /// Returns the number to the agent.
  /// - Throws: `FrameChannel.Failure`; `VaultError` of locked memory.
  package func answer(_ challenge: Challenge) throws {
    // It gives access to nothing.
    guard let extra = OwnedDescriptor(coffer_eventfd()) else { throw Failure.system(errno) }
    try send(challenge.response(), withDescriptor: extra.number)
  }
}
