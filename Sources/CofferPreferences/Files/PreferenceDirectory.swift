package import CofferFiles
import Glibc

/// A directory with the files of preference domains.
///
/// It is made with mode 0700 at the first write. An existing one must belong to the user who writes, or to root, so that a root
/// shell leaves no files behind that the user's programs cannot change; and not everybody may write to it, as ssh(1) demands of its
/// own: a user with that right can put another file in the place of each. A group may: in many systems each user has one alone.
public struct PreferenceDirectory: Hashable, Sendable {
  /// The path of the directory.
  public let path: String
  /// The path leads to its descriptor.
  private let open: OpenDirectory?

  /// The directory at a path.
  public init(_ path: String) { (self.path, open) = (path, nil) }

  /// A directory that stays the same if another one is put in its place. It stays open as long as a domain of it exists.
  /// - Parameter directory: The directory.
  package init(_ directory: OpenDirectory) { (path, open) = ("/proc/self/fd/\(directory.number)", directory) }

  /// The text with the path that a person knows.
  /// - Parameter text: A message about a file of this directory.
  package func named(_ text: String) -> String {
    guard let open else { return text }
    return text.replacing("\(path)/", with: "\(open.path)/").replacing("\(path) ", with: "\(open.path) ")
  }

  public static func == (left: PreferenceDirectory, right: PreferenceDirectory) -> Bool { left.path == right.path }
  public func hash(into hasher: inout Hasher) { hasher.combine(path) }

  func file(_ name: String) -> String { Path.join(path, name) }

  /// - Throws: `foreignOwner`, `permissionsTooOpen`, `accessDenied`, `readOnly`, `full`, `notAFile`, `io`.
  func make() throws(PreferenceError) {
    if try !isThere() {
      // Its name has to be on the disk as well as what lies in it. A directory above it need not be readable.
      try Files.makeDirectory(path) { try? Files.synchronizeDirectory($0) }
    }
    let status = try Files.existingStatus(at: path)
    guard status.owner == geteuid() else { throw PreferenceError(.foreignOwner, "\(path) belongs to user \(status.owner)") }
    guard !Self.isOpenToAll(status) else { throw PreferenceError(.permissionsTooOpen, "\(path) may be written by everybody") }
  }

  /// Not where it is not there, or cannot be looked at.
  var isOpenToAll: Bool { (try? Files.existingStatus(at: path)).map(Self.isOpenToAll) ?? false }

  /// The sticky bit keeps others from renaming and deleting the files, as in /tmp.
  private static func isOpenToAll(_ status: FileStatus) -> Bool { status.mode & 0o002 != 0 && status.mode & 0o1000 == 0 }

  func isThere() throws(PreferenceError) -> Bool {
    guard let status = try Files.status(at: path, followingLinks: true) else { return false }
    guard status.kind == .directory else { throw PreferenceError(.notAFile, "\(path) is not a directory") }
    return true
  }

  /// Returns when the names of the files are on the disk.
  func synchronize() throws(PreferenceError) { try Files.synchronizeDirectory(path) }
}
