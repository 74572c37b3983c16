internal import Glibc

/// Where other programs of Coffer lie: beside this one, or those for people in `bin` and the others in `libexec/coffer`.
package enum ProgramPlaces {
  /// The path of this program when it was asked for first. nil if `/proc` is missing.
  static let own: String? = {
    var path = [CChar](repeating: 0, count: Int(PATH_MAX))
    let count = unsafe readlink("/proc/self/exe", &path, path.count)
    return count > 0 ? String(decoding: path.prefix(count).map { UInt8(bitPattern: $0) }, as: UTF8.self) : nil
  }()

  /// The directory of this program, with a slash at its end. nil if `/proc` is missing.
  package static let ownDirectory: String? = own.flatMap { own in
    own.utf8.lastIndex(of: UInt8(ascii: "/")).map { String(own[...$0]) }
  }

  /// The paths at which a program may lie that people do not start, for a program of `bin`.
  package static func internalProgram(_ name: String) -> [String] { paths(name, "../libexec/coffer/") }

  /// The paths at which a program of `bin` may lie, for a program of `libexec/coffer`.
  package static func program(_ name: String) -> [String] { paths(name, "../../bin/") }

  private static func paths(_ name: String, _ other: String) -> [String] {
    ownDirectory.map { ["\($0)\(name)", "\($0)\(other)\(name)"] } ?? []
  }
}
