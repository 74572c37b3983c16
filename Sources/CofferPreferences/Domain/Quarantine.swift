import CofferFiles
import Glibc

/// Keeps a damaged file as `NAME.corrupt-DATE`, so that it can be examined and is not overwritten.
enum Quarantine {
  /// Gives the file a second name (a hard link). The first one remains until another file replaces it: if the process dies in
  /// between, a damaged file is left instead of none, which would mean that the domain was deleted.
  /// - Returns: The new path.
  static func keep(_ path: String, in directory: PreferenceDirectory) throws(PreferenceError) -> String {
    let start = Path.join(Path.parent(of: path), prefix(of: path))
    let date = date()
    for attempt in 0..<1000 {
      let new = "\(start)\(date)\(attempt == 0 ? "" : "-\(attempt)")"
      if unsafe link(path, new) == 0 { return new }
      if errno == EEXIST { continue }
      guard errno == EPERM || errno == EOPNOTSUPP || errno == EMLINK, unsafe access(new, F_OK) != 0 else {
        throw PreferenceError(errno: errno, path)
      }
      // The file system does not support hard links: copy the file.
      guard let old = try OpenFile.open(path, O_RDONLY) else { return new }
      _ = try NewFile.written(in: directory, old.read(at: 0, count: old.byteCount)).place(at: new)
      return new
    }
    throw PreferenceError(.io, "\(path): too many damaged files lie beside it")
  }

  /// A file name has at most 255 bytes.
  private static func prefix(of path: String) -> String {
    let name = Path.name(of: path)
    return "\(name.utf8.count > 220 ? "long-name" : name).corrupt-"
  }

  /// The names of the files that were kept for a path, in byte order.
  static func names(of path: String, in directory: PreferenceDirectory) throws(PreferenceError) -> [String] {
    guard try directory.isThere() else { return [] }
    let start = prefix(of: path)
    do {
      return try OpenDirectory.foreign(directory.path).names().map(\.description).filter { $0.utf8.starts(with: start.utf8) }
        .sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    } catch {
      throw PreferenceError(error)
    }
  }

  private static func date() -> String {
    var now = time(nil)
    var parts = unsafe tm()
    unsafe gmtime_r(&now, &parts)
    func padded(_ number: Int32) -> String { number < 10 ? "0\(number)" : "\(number)" }
    let day = unsafe "\(parts.tm_year + 1900)\(padded(parts.tm_mon + 1))\(padded(parts.tm_mday))"
    return unsafe "\(day)-\(padded(parts.tm_hour))\(padded(parts.tm_min))\(padded(parts.tm_sec))"
  }
}
