public import CofferPropertyLists
public import Foundation

extension Data: Storable {
  public func storedValue() -> PropertyListValue { .data(Array(self)) }

  public init?(storedValue: PropertyListValue) {
    guard case .data(let bytes) = storedValue else { return nil }
    self.init(bytes)
  }
}

extension Date: Storable {
  public func storedValue() -> PropertyListValue { .date(timeIntervalSinceReferenceDate) }

  public init?(storedValue: PropertyListValue) {
    guard case .date(let seconds) = storedValue else { return nil }
    self.init(timeIntervalSinceReferenceDate: seconds)
  }
}

/// As `UserDefaults.set` and `url(forKey:)`: a file URL as its path, any other URL archived.
extension URL: Storable {
  public func storedValue() throws -> PropertyListValue { try PropertyListValue(url: self, forKey: "") }

  public init?(storedValue: PropertyListValue) {
    guard let url = storedValue.fileOrArchivedURL else { return nil }
    self = url
  }
}
