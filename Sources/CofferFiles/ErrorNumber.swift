internal import Glibc

/// The system's name of an error number, for messages.
package enum ErrorNumber {
  package static func text(of number: Int32) -> String {
    // strerror's buffer may be overwritten by another thread; strerror_r's is ours.
    let text = unsafe [UInt8](unsafeUninitializedCapacity: 128) { buffer, count in
      unsafe buffer.initialize(repeating: 0)
      let known = unsafe buffer.withMemoryRebound(to: CChar.self) { unsafe strerror_r(number, $0.baseAddress!, 128) == 0 }
      count = known ? unsafe buffer.prefix { $0 != 0 }.count : 0
    }
    return text.isEmpty ? "error \(number)" : String(decoding: text, as: UTF8.self)
  }
}
