#if Combine
import Foundation
import PreferenceStoreCombine

import class PreferenceStore.UserDefaults

// Declarations from articles: conformances that let more types be settings, and the stores of a group.

extension Date: RawRepresentable {
  public typealias RawValue = String
  public init?(rawValue: RawValue) {
    guard let data = rawValue.data(using: .utf8),
      let date = try? JSONDecoder().decode(Date.self, from: data)
    else {
      return nil
    }
    self = date
  }

  public var rawValue: RawValue {
    guard let data = try? JSONEncoder().encode(self),
      let result = String(data: data, encoding: .utf8)
    else {
      return ""
    }
    return result
  }
}

extension Array: RawRepresentable where Element: Codable {
  public init?(rawValue: String) {
    guard let data = rawValue.data(using: .utf8),
      let result = try? JSONDecoder().decode([Element].self, from: data)
    else { return nil }
    self = result
  }

  public var rawValue: String {
    guard let data = try? JSONEncoder().encode(self),
      let result = String(data: data, encoding: .utf8)
    else {
      return "[]"
    }
    return result
  }
}

extension UserDefaults {
  static let appGroup: UserDefaults? = UserDefaults(suiteName: "group.com.example.numbers")

  enum Keys: String {
    case number
  }
  typealias Key = Keys
}
#endif
