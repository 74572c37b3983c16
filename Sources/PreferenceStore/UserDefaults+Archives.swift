public import Foundation

extension UserDefaults {
  /// The object that was archived under a key, where it is one of this class. Nil where there is no data.
  /// - Throws: `CocoaError.coderReadCorrupt` where the data is no archive, or holds an object of another class. (On Linux,
  ///   `NSKeyedUnarchiver` ends the program in that case.)
  public func unarchivedObject<Object: NSObject & NSSecureCoding>(ofClass type: Object.Type, forKey key: String) throws -> Object?
  {
    guard let data = data(forKey: key) else { return nil }
    guard let archive = KeyedArchive(Array(data)), archive.rootClassNames.contains(NSStringFromClass(type)) else {
      throw CocoaError(.coderReadCorrupt)
    }
    return try NSKeyedUnarchiver.unarchivedObject(ofClass: type, from: data)
  }
}
