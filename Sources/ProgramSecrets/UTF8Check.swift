/// Whether bytes are UTF-8, without a String, which would be a copy of them.
package enum UTF8Check {
  static func isValid(_ bytes: UnsafeRawBufferPointer) -> Bool {
    var decoder = UTF8()
    var source = unsafe bytes.makeIterator()
    while true {
      switch unsafe decoder.decode(&source) {
      case .scalarValue: continue
      case .emptyInput: return true
      case .error: return false
      }
    }
  }
}
