import Glibc
import PropertyLists

/// The property list of a domain: what people and other programs read, and may change.
struct PlistFile {
  let path: String

  /// - Throws: `damaged` where it is no property list with a dictionary at the top; `symbolicLink`, `notAFile`, `accessDenied`, `io`.
  func read() throws(PreferenceError) -> (values: PropertyListDictionary, identity: FileIdentity)? {
    guard let file = try OpenFile.open(path, O_RDONLY) else { return nil }
    let status = try file.status()
    guard status.st_size <= PropertyList.maximumByteCount else { throw PreferenceError(.damaged, "\(path): too large") }
    let bytes = try file.read(at: 0, count: Int(status.st_size))
    do {
      guard case .dictionary(let values) = try PropertyList.read(bytes).value else {
        throw PreferenceError(.damaged, "\(path): not a dictionary")
      }
      return (values, FileIdentity(status))
    } catch let error as PropertyListError {
      throw PreferenceError(.damaged, "\(path): \(error.code.name) \(error.detail)")
    } catch {
      throw error as? PreferenceError ?? PreferenceError(.io, path)
    }
  }

  /// Puts a damaged file aside as `PATH.corrupt-DATE`, so that it can be looked at and is never overwritten.
  /// - Parameter isReplaced: Another file is about to take its place: until then it stays at its path as well.
  /// - Returns: The new path.
  static func quarantine(_ path: String, isReplaced: Bool = false) throws(PreferenceError) -> String {
    var now = time(nil)
    var parts = unsafe tm()
    unsafe gmtime_r(&now, &parts)
    func padded(_ number: Int32) -> String { number < 10 ? "0\(number)" : "\(number)" }
    let date = unsafe "\(parts.tm_year + 1900)\(padded(parts.tm_mon + 1))\(padded(parts.tm_mday))"
    let clock = unsafe "\(padded(parts.tm_hour))\(padded(parts.tm_min))\(padded(parts.tm_sec))"
    // A name has room for 255 bytes.
    let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")).map { path.utf8.index(after: $0) } ?? path.startIndex
    let start = path.utf8.distance(from: slash, to: path.endIndex) > 220 ? String(path[..<slash]) + "long-name" : path
    for attempt in 0..<1000 {
      let new = "\(start).corrupt-\(date)-\(clock)\(attempt == 0 ? "" : "-\(attempt)")"
      // A second name first: to rename could replace a file that was put aside in the same second.
      guard unsafe link(path, new) == 0 else {
        if errno == EEXIST { continue }
        if errno == EPERM || errno == EOPNOTSUPP, unsafe access(new, F_OK) != 0, unsafe rename(path, new) == 0 { return new }
        throw PreferenceError(errno: errno, path)
      }
      if !isReplaced { unsafe unlink(path) }
      return new
    }
    throw PreferenceError(.io, "\(path): too many damaged files lie beside it")
  }
}
