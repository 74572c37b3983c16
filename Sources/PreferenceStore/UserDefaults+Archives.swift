public import Foundation

extension UserDefaults {
  /// The object archived under a key, if its class is `type`. Returns nil if there is no data under the key.
  /// - Throws: `CocoaError.coderReadCorrupt` if the data is not an archive, or holds an object of another class. (On Linux,
  ///   `NSKeyedUnarchiver` ends the process in that case.)
  public func unarchivedObject<Object: NSObject & NSSecureCoding>(ofClass type: Object.Type, forKey key: String) throws -> Object?
  {
    guard let data = data(forKey: key) else { return nil }
    guard let archive = KeyedArchive(Array(data)), archive.rootClassNames.contains(NSStringFromClass(type)) else {
      throw CocoaError(.coderReadCorrupt)
    }
    return try NSKeyedUnarchiver.unarchivedObject(ofClass: type, from: data)
  }
}
