import CUtf8proc
import SecretMemory
import VaultCore

/// UTF-8 text in normal form C, composed from locked memory into locked memory: utf8proc allocates nothing here.
struct NormalizedText: ~Copyable {
  /// In bytes, before and after. The core refuses what is longer afterwards.
  static let maximumByteCount = 4096
  private static let options = utf8proc_option_t(rawValue: UTF8PROC_STABLE.rawValue | UTF8PROC_COMPOSE.rawValue)
  /// utf8proc up to 2.8 takes this code point, which composes with nothing, for a final consonant of Hangul, and drops it after a syllable.
  private static let notAFinalConsonant: utf8proc_int32_t = 0x11A7

  let bytes: Secret
  /// Whether Unicode 15.0 has assigned all of its code points. The normal form of others may be another one in a later version.
  let isAssigned: Bool

  /// - Throws: `passphraseNotText` for what is not UTF-8, `passphraseLength`, `memoryNotLockable`, `outOfMemory`.
  init(composing text: borrowing Secret) throws(VaultError) {
    guard text.count <= Self.maximumByteCount else { throw VaultError(.passphraseLength) }
    // U+0390, of two bytes, has the longest canonical decomposition for its length: three code points.
    var scalars = try Secret(count: text.count * 2 * MemoryLayout<utf8proc_int32_t>.size)
    // Normal form C has at most three times the bytes; a code point is written as four.
    var output = try Secret(count: text.count * 3 + 4)
    let (count, isAssigned) = try text.withBytes { text throws(VaultError) in
      try scalars.withMutableBytes { scalars throws(VaultError) in
        try output.withMutableBytes { output throws(VaultError) in
          try unsafe text.withUnsafeBytes { text throws(VaultError) in
            try unsafe scalars.withUnsafeMutableBytes { scalars throws(VaultError) in
              try unsafe output.withUnsafeMutableBytes { output throws(VaultError) in
                try unsafe Self.compose(
                  text.bindMemory(to: UInt8.self), by: scalars.bindMemory(to: utf8proc_int32_t.self),
                  into: output.bindMemory(to: UInt8.self))
              }
            }
          }
        }
      }
    }
    output.truncate(to: count)
    bytes = output
    self.isAssigned = isAssigned
  }

  private static func compose(
    _ text: UnsafeBufferPointer<UInt8>, by buffer: UnsafeMutableBufferPointer<utf8proc_int32_t>,
    into output: UnsafeMutableBufferPointer<UInt8>
  ) throws(VaultError) -> (count: Int, isAssigned: Bool) {
    let decomposed = unsafe utf8proc_decompose(text.baseAddress, text.count, buffer.baseAddress, buffer.count, options)
    guard 0...buffer.count ~= decomposed else { throw VaultError(.passphraseNotText, "not UTF-8") }
    let isAssigned = unsafe buffer[..<decomposed].allSatisfy(isAssigned)
    var (start, length) = (0, 0)
    while start <= decomposed {
      let end = unsafe buffer[start..<decomposed].firstIndex(of: notAFinalConsonant) ?? decomposed
      let composed = unsafe utf8proc_normalize_utf32(buffer.baseAddress.map { unsafe $0 + start }, end - start, options)
      for index in start..<start + composed { unsafe try write(buffer[index], to: output, &length) }
      if end < decomposed { unsafe try write(notAFinalConsonant, to: output, &length) }
      start = end + 1
    }
    return (length, isAssigned)
  }

  private static func write(
    _ scalar: utf8proc_int32_t, to output: UnsafeMutableBufferPointer<UInt8>, _ length: inout Int
  ) throws(VaultError) {
    guard length + 4 <= output.count else { throw VaultError(.passphraseLength) }
    unsafe length += utf8proc_encode_char(scalar, output.baseAddress.map { unsafe $0 + length })
  }

  /// As of Unicode 15.0, whichever version the libraries have.
  private static func isAssigned(_ value: utf8proc_int32_t) -> Bool {
    guard let properties = UInt32(exactly: value).flatMap(Unicode.Scalar.init)?.properties, let age = properties.age else {
      return false
    }
    return age <= (15, 0) && properties.generalCategory != .unassigned
  }
}
