public import Foundation
public import PreferenceStore

public import class PreferenceStore.UserDefaults

// The number that the three programs of the app share, kept twice.

extension UserDefaults {
  public typealias Key = Keys

  public enum Keys: String {
    case luckyNumber
  }

  /// The settings of the app's group.
  public static let appGroup = UserDefaults(suiteName: LuckyNumberStore.groupName)
}

public enum LuckyNumberStore {
  /// As the manifest has it: the name of the team, which `coffer app run` puts in front of that of the app, then the group's.
  public static let groupName: String = {
    let team = ProcessInfo.processInfo.environment["COFFER_APP"]?.prefix { $0 != "." } ?? "no-team"
    return "\(team).lucky-number"
  }()

  /// Nil if the program was not started as an app of the group.
  public static var fileURL: URL? {
    FileManager.default.containerURL(forSecurityApplicationGroupIdentifier: groupName)?
      .appendingPathComponent("luckyNumber.txt")
  }

  public static var numberFromUserDefaults: Int {
    UserDefaults.appGroup?.integer(forKey: UserDefaults.Key.luckyNumber.rawValue) ?? 0
  }

  /// 0 if the file is missing or holds no number.
  public static var numberFromFile: Int {
    guard let fileURL, let text = try? String(contentsOf: fileURL, encoding: .utf8) else { return 0 }
    return Int(text) ?? 0
  }

  /// In both places.
  public static func save(_ number: Int) {
    guard let defaults = UserDefaults.appGroup, let fileURL else { fail("not an app of the group: coffer app run starts it") }
    defaults.set(number, forKey: UserDefaults.Key.luckyNumber.rawValue)
    do {
      // Whole or not at all: the widget may be reading it.
      try "\(number)".write(to: fileURL, atomically: true, encoding: .utf8)
    } catch {
      fail("\(fileURL.path): \(error.localizedDescription)")
    }
  }

  public static func fail(_ message: String) -> Never {
    FileHandle.standardError.write(Data("\(ProcessInfo.processInfo.processName): \(message)\n".utf8))
    exit(1)
  }
}
