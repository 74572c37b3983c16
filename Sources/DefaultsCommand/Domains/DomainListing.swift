import CofferConsole
internal import CofferPreferences
import Glibc

/// Which domains have files in a directory.
enum DomainListing {
  /// In the byte order of the names; the global domain by its name in messages.
  /// - Parameter suffix: the host whose domains they are; nil for those of every host.
  /// - Throws: `DefaultsFailure`. A directory that is not there holds no domains.
  static func names(in directory: PreferenceDirectory, suffix: String?) throws -> [String] {
    var names: Set<[UInt8]> = []
    for file in try files(in: directory) {
      guard let ending = [".plist", ".journal"].first(where: { file.hasSuffix($0) }) else { continue }
      var name = String(file.dropLast(ending.count))
      if let suffix {
        guard name.hasSuffix(".\(suffix)") else { continue }
        name = String(name.dropLast(suffix.count + 1))
      }
      if name == ".GlobalPreferences" {
        names.insert(Array(GlobalName.inMessages.utf8))
      } else if (try? DomainName(name)) != nil {
        names.insert(Array(name.utf8))
      }
    }
    return names.map { String(decoding: $0, as: UTF8.self) }.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
  }

  /// Those whose names are UTF-8.
  static func files(in directory: PreferenceDirectory) throws -> [String] {
    guard let stream = unsafe opendir(directory.path) else {
      if errno == ENOENT { return [] }
      throw DefaultsFailure.failed("\(directory.path): \(SystemError.last.text)")
    }
    defer { unsafe closedir(stream) }
    var files: [String] = []
    while let entry = unsafe readdir(stream) {
      let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) { name in
        unsafe name.withMemoryRebound(to: CChar.self, capacity: 256) { unsafe String(validatingCString: $0) }
      }
      if let name { files.append(name) }
    }
    return files
  }
}
