/// Paths as text.
package enum Path {
  /// The path of a name in a directory.
  package static func join(_ directory: String, _ name: String) -> String {
    directory.utf8.last == UInt8(ascii: "/") ? directory + name : "\(directory)/\(name)"
  }
}
