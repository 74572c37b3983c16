internal import CofferRequests

/// The limits for data from the other end. A peer that exceeds one is disconnected.
package enum WireLimits {
  /// The whole frame, in bytes: the largest secret, and room for what is said of it.
  package static let frameByteCount = (1 << 20) + (4 << 10)
  /// A larger body needs a permit while it is received: there are `largeFrames`.
  package static let smallBodyByteCount = 4 << 10
  /// Bodies that are larger, of all connections, at one time; of one process, one.
  package static let largeFrames = 2
  /// Attributes of an item and the like, beside the secret, in bytes.
  package static let partByteCount = 512 << 10
  /// An item beside its secret, in bytes: a larger one is left out.
  package static let entryByteCount = 2 << 10
  /// Parts of one frame.
  package static let partCount = NewItems.maximumCount
  /// Items, rows or notices in one frame of an answer; more come in further ones.
  package static let answerPartCount = 256
  /// Bytes of a log in one reply, in rows of `logRowByteCount`.
  package static let logByteCount = 4 * logRowByteCount
  package static let logRowByteCount = 60_000
  /// Connections of one process.
  package static let connectionsPerProcess = 32
  /// The limit for all processes together.
  package static let connections = 1024
  /// How long who watches waits before it looks for the agent again, in milliseconds.
  package static let reconnectMilliseconds: Int32 = 1000
  /// How long a client waits for an answer before it looks whether the agent takes requests, in milliseconds.
  package static let firstLookMilliseconds: Int32 = 500
  /// Likewise, before each later look.
  package static let laterLookMilliseconds: Int32 = 2_000
  /// How long an agent may take to read a byte, in milliseconds. With `firstLookMilliseconds`, a command that meets a stopped
  /// agent ends within two seconds.
  package static let lifeMilliseconds: Int32 = 1_300
  /// How long a frame may take from its first byte to its last, in milliseconds.
  package static let frameMilliseconds: Int32 = 10_000
}
