import CofferFiles
import CofferPropertyLists
import Glibc

/// The property list of a domain, which people and other programs read and may edit.
struct PlistFile {
  let path: String
  /// nil if the file may belong to any user.
  var trust: ManagedTrust?

  /// - Throws: `damaged` if the file is not a property list with a dictionary at the top; `symbolicLink`, `notAFile`,
  ///   `accessDenied`, `io`; `foreignOwner` and `permissionsTooOpen` if it must be the administrator's and is not.
  func read() throws(PreferenceError) -> (values: PropertyListDictionary, identity: FileIdentity)? {
    guard let file = try OpenFile.open(path, O_RDONLY) else { return nil }
    let status = try file.status()
    if let trust {
      try trust.checkDirectories(of: path)
      try trust.check(status, path)
    }
    guard status.size <= PropertyList.maximumByteCount else { throw PreferenceError(.damaged, "\(path): too large") }
    let bytes = try file.read(at: 0, count: Int(status.size))
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
}
