import AccessRights
import CofferRequests
import CofferTesting
import SecretMemory
import VaultCore

@testable import CofferWire

extension FuzzTarget {
  /// Messages that clients send and an agent answers: a header and a body.
  static let frames: [FuzzTarget] = [
    FuzzTarget("frame") { bytes in
      let head = try unsafe FrameHeader(parsing: Array(bytes.prefix(FrameHeader.byteCount)).span.bytes)
      try promise(head.bytes.prefix(8) == bytes.prefix(8), "a header is encoded as it was read")
      let body = Array(bytes.dropFirst(FrameHeader.byteCount))
      let message = try unsafe Message(parsing: Secret(copying: body.span.bytes))
      guard case .request(let kind) = head.kind else {
        _ = try? message.reference()
        _ = try? message.status()
        _ = try? message.failure()
        _ = try? message.flag()
        _ = try? message.entitlements()
        if let notices = try? message.notices() {
          let frame = try Notice.frame(notices, request: head.request).copyIntoUnprotectedBytes().dropFirst(FrameHeader.byteCount)
          let again = try Message(parsing: unsafe Secret(copying: Array(frame).span.bytes)).notices()
          try promise(again == notices, "notices are encoded as they were read")
        }
        for entry in try message.entries().entries {
          try promise(try Entry(wirePart: entry.wirePart) == entry, "an item is encoded as it was read")
        }
        return
      }
      let call = try Request.parse(kind, message)
      let once = try call.frame(request: head.request).copyIntoUnprotectedBytes()
      let again = Array(once.dropFirst(FrameHeader.byteCount))
      let header = try unsafe FrameHeader(parsing: Array(once.prefix(FrameHeader.byteCount)).span.bytes)
      try promise(header.kind == head.kind && header.bodyByteCount == again.count, "a call stays one")
      let twice = try Request.parse(kind, Message(parsing: unsafe Secret(copying: again.span.bytes)))
        .frame(request: head.request).copyIntoUnprotectedBytes()
      try promise(once == twice, "what was encoded is read as it was")
    }
  ]
}
