import CLinux
import CofferConsole
internal import CofferPreferences
internal import CofferPropertyLists
import Glibc
import TextEncodings

/// Copies of a value in files that no store manages any more: damaged ones that were moved aside, and those of an interrupted
/// write. Their other content may still be needed, so they stay, with asterisks in place of the value.
///
/// Blocks of the disk that no file has any more are not reached; nothing but encryption of the disk helps there.
enum ResidualCopies {
  /// Shorter ones would be found by chance.
  private static let shortest = 4
  /// After so many seconds no process is still at work on a new file.
  private static let abandoned = 60

  /// - Parameter path: of the domain's files, without their endings.
  /// - Throws: `DefaultsFailure`, where a file cannot be read or written.
  static func erase(_ value: PropertyListValue, besides path: String) throws {
    let forms = forms(of: value).filter { $0.bytes.count >= shortest }
    guard !forms.isEmpty, let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return }
    let directory = String(path[..<slash])
    let name = String(path[path.utf8.index(after: slash)...])
    for file in try DomainListing.files(in: PreferenceDirectory(directory)) {
      // The last is what the store calls files whose names leave no room for a date.
      let isAside = ["\(name).plist.corrupt-", "\(name).journal.corrupt-", "long-name.corrupt-"].contains { file.hasPrefix($0) }
      let isNew = file.hasPrefix(".coffer-") && file.hasSuffix(".new")
      guard isAside || isNew else { continue }
      try erase(forms, in: "\(directory)/\(file)", onlyIfAbandoned: isNew)
    }
  }

  private static func erase(_ forms: [Form], in path: String, onlyIfAbandoned: Bool) throws {
    let number = unsafe open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY)
    guard number >= 0 else {
      if errno == ENOENT { return }
      throw DefaultsFailure.failed("\(path): \(SystemError.last.text)", hint: "it may hold a copy of the value: remove it")
    }
    let file = Descriptor(number: number, name: path)
    defer { file.close() }
    var status = stat()
    guard unsafe fstat(number, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return }
    if onlyIfAbandoned, time(nil) - status.st_mtim.tv_sec < abandoned { return }
    var bytes = try file.contents(limit: PropertyList.maximumByteCount)
    var hasFound = false
    for form in forms { hasFound = erase(form, in: &bytes) || hasFound }
    guard hasFound else { return }
    var written = 0
    while written < bytes.count {
      let count = unsafe bytes.span.bytes.extracting(written..<bytes.count).withUnsafeBytes {
        unsafe pwrite(number, $0.baseAddress, $0.count, off_t(written))
      }
      guard count > 0 || errno == EINTR else { throw DefaultsFailure.failed("\(path): \(SystemError.last.text)") }
      written += max(count, 0)
    }
    guard fdatasync(number) == 0 else { throw DefaultsFailure.failed("\(path): \(SystemError.last.text)") }
  }

  private static func erase(_ form: Form, in bytes: inout [UInt8]) -> Bool {
    var hasFound = false
    for start in bytes.indices where bytes[start] == form.bytes[0] {
      guard let end = end(of: form, in: bytes, from: start) else { continue }
      for index in start..<end { bytes[index] = UInt8(ascii: "*") }
      hasFound = true
    }
    return hasFound
  }

  private static func end(of form: Form, in bytes: [UInt8], from start: Int) -> Int? {
    var position = start
    for byte in form.bytes {
      while form.isWrapped, position < bytes.count, [0x20, 0x09, 0x0A, 0x0D].contains(bytes[position]) { position += 1 }
      guard position < bytes.count, bytes[position] == byte else { return nil }
      position += 1
    }
    return position
  }

  private struct Form {
    let bytes: [UInt8]
    /// Spaces and line ends may stand in it.
    var isWrapped = false
  }

  /// How property lists and journals may have written the value.
  private static func forms(of value: PropertyListValue) -> [Form] {
    switch value {
    case .string(let text):
      let escaped = text.unicodeScalars.reduce(into: "") { result, scalar in
        switch scalar {
        case "&": result += "&amp;"
        case "<": result += "&lt;"
        case ">": result += "&gt;"
        default: result.unicodeScalars.append(scalar)
        }
      }
      let utf16 = text.utf16.flatMap { [UInt8($0 >> 8), UInt8($0 & 0xFF)] }
      return [Form(bytes: Array(text.utf8)), Form(bytes: Array(escaped.utf8)), Form(bytes: utf16)]
    case .data(let bytes): return [Form(bytes: bytes), Form(bytes: Array(Base64Text.encode(bytes).utf8), isWrapped: true)]
    case .integer(let number): return [Form(bytes: Array(String(number).utf8))]
    case .unsigned(let number): return [Form(bytes: Array(String(number).utf8))]
    default: return []
    }
  }
}
