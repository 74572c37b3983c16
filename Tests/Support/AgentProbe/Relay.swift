import CLinux
import Glibc

/// Serves connections from descriptor 0 until it is ended.
func relay(to path: String) -> Never {
  while true {
    let client = coffer_accept(0)
    guard client >= 0 else { exit(1) }
    let agent = coffer_local_socket()
    guard unsafe coffer_local_name(agent, path, 0) == 0 else {
      close(client)
      close(agent)
      continue
    }
    carry(from: client, to: agent)
    carry(from: agent, to: client)
  }
}

/// In a thread of its own. Where one direction ends, both do.
private func carry(from source: Int32, to target: Int32) {
  var thread = pthread_t()
  let ends = UnsafeMutablePointer<(Int32, Int32)>.allocate(capacity: 1)
  unsafe ends.initialize(to: (source, target))
  unsafe pthread_create(
    &thread, nil,
    { argument in
      guard let ends = unsafe argument?.assumingMemoryBound(to: (Int32, Int32).self) else { return nil }
      let (source, target) = unsafe ends.pointee
      var buffer = [UInt8](repeating: 0, count: 1 << 16)
      while true {
        var (process, descriptor) = (Int32(0), Int32(-1))
        let count = unsafe coffer_receive(source, &buffer, UInt(buffer.count), 1, &process, &descriptor)
        guard count > 0 else { break }
        var sent = 0
        // A message that carries a descriptor stays one.
        if descriptor >= 0 {
          sent = unsafe coffer_send_with_descriptor(target, buffer, UInt(count), descriptor)
          close(descriptor)
          guard sent == count else { break }
        }
        while sent < count {
          let more = unsafe buffer.withUnsafeBytes {
            unsafe send(target, $0.baseAddress! + sent, count - sent, Int32(MSG_NOSIGNAL))
          }
          guard more > 0 else { break }
          sent += more
        }
        guard sent == count else { break }
      }
      // The descriptors stay open: their numbers are not to be given to another connection while the other thread still has them.
      shutdown(source, Int32(SHUT_RDWR))
      shutdown(target, Int32(SHUT_RDWR))
      return nil
    }, ends)
}
