/// Passes bytes to libsodium as pointers that are never null, not even for an empty span.
extension RawSpan {
  package func withPointer<Result>(_ body: (UnsafePointer<UInt8>) -> Result) -> Result {
    unsafe withUnsafeBytes { buffer in
      guard let base = buffer.baseAddress else { return unsafe withUnsafePointer(to: 0) { unsafe body($0) } }
      return unsafe body(base.assumingMemoryBound(to: UInt8.self))
    }
  }
}

extension Secret {
  package borrowing func withPointer<Result>(_ body: (UnsafePointer<UInt8>) -> Result) -> Result {
    withBytes { unsafe $0.withPointer(body) }
  }

  package mutating func withMutablePointer<Result>(_ body: (UnsafeMutablePointer<UInt8>) -> Result) -> Result {
    withMutableBytes { bytes in
      unsafe bytes.withUnsafeMutableBytes { buffer in
        var nothing: UInt8 = 0
        guard let base = buffer.baseAddress else { return unsafe withUnsafeMutablePointer(to: &nothing) { unsafe body($0) } }
        return unsafe body(base.assumingMemoryBound(to: UInt8.self))
      }
    }
  }
}
