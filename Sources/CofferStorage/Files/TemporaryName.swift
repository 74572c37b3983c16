import CLinux
import CofferFiles
import Glibc

/// Names for files that are being made: `.NAME.<16 hexadecimal digits>.new` in the directory where the file is going to be.
enum TemporaryName {
  static func next(for path: String) -> String {
    let directory = Location.parent(of: path)
    let name = path.utf8.lastIndex(of: UInt8(ascii: "/")).map { path[path.utf8.index(after: $0)...] } ?? path[...]
    return "\(directory)/.\(name).\(hexadecimal(.random(in: 0 ... .max))).new"
  }

  /// 16 digits.
  static func hexadecimal(_ number: UInt64) -> String {
    let digits = String(number, radix: 16)
    return String(repeating: "0", count: 16 - digits.utf8.count) + digits
  }

  static func isTemporary(_ candidate: String, for name: String) -> Bool {
    let bytes = Array(candidate.utf8)
    let start = Array(".\(name).".utf8)
    guard bytes.count == start.count + 20, bytes.starts(with: start), bytes.suffix(4).elementsEqual(".new".utf8) else {
      return false
    }
    return bytes[start.count..<start.count + 16].allSatisfy {
      (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains($0)
    }
  }

  /// Paths of what died makers left behind, with the files that SQLite may have put beside them.
  static func leftovers(of name: String, in directory: String) -> [String] {
    guard let stream = unsafe opendir(directory) else { return [] }
    defer { unsafe closedir(stream) }
    var found: [String] = []
    while let entry = unsafe readdir(stream) {
      let candidate = unsafe withUnsafePointer(to: &entry.pointee.d_name) {
        unsafe $0.withMemoryRebound(to: CChar.self, capacity: 256) { unsafe String(cString: $0) }
      }
      if isTemporary(candidate, for: name) { found.append("\(directory)/\(candidate)") }
    }
    return found
  }

  /// - Throws: `vaultExists` where the new name is taken.
  static func moveWithoutReplacing(_ path: String, to new: String) throws(StorageError) {
    if unsafe coffer_rename_exclusive(path, new) == 0 { return }
    var number = errno
    // A file system that cannot rename so can make a second name, which does not replace either.
    if number == EINVAL || number == ENOSYS {
      if unsafe link(path, new) == 0 {
        unsafe unlink(path)
        return
      }
      number = errno
    }
    guard number == EEXIST else { throw StorageError(errno: number, new) }
    throw StorageError(.vaultExists, new)
  }
}
