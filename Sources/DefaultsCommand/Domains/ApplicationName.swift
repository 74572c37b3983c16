import CofferConsole
import CofferFiles
internal import CofferPreferences
internal import CofferPropertyLists
import Glibc

/// The domain of an application, for `-app NAME`: the identifier of a bundle, where NAME is its directory, else the desktop file ID
/// (freedesktop.org's Desktop Entry Specification) of an installed application, by the whole ID, its last part or the `Name` in the file.
enum ApplicationName {
  static func domain(of name: String) throws -> String {
    if let identifier = try bundleIdentifier(name) { return identifier }
    let found = Set(directories.flatMap { identifiers(in: $0, fitting: name) })
    guard let identifier = found.first else {
      throw DefaultsFailure.said("Couldn't find an application named \"\(name)\"; defaults unchanged")
    }
    guard found.count == 1 else {
      throw DefaultsFailure.failed(
        "-app \(name): there are several applications of this name",
        hint: "name one by its domain: \(found.sorted().joined(separator: ", "))")
    }
    return identifier
  }

  private static func bundleIdentifier(_ path: String) throws -> String? {
    for place in ["Contents/Info.plist", "Resources/Info.plist", "Info.plist"] {
      guard let bytes = try? LockedFile.content(of: "\(path)/\(place)") else { continue }
      guard let read = try? PropertyList.read(bytes), case .dictionary(let values) = read.value,
        case .string(let identifier)? = values["CFBundleIdentifier"], !identifier.isEmpty
      else { throw DefaultsFailure.said("Can't determine domain name for application \(path); defaults unchanged") }
      return identifier
    }
    return nil
  }

  /// As the XDG base directory specification has it.
  private static var directories: [String] {
    let own = Environment["XDG_DATA_HOME"] ?? Environment["HOME"].map { "\($0)/.local/share" }
    let shared = (Environment["XDG_DATA_DIRS"] ?? "/usr/local/share:/usr/share").split(separator: ":").map(String.init)
    return ([own].compactMap(\.self) + shared).map { "\($0)/applications" }
  }

  private static func identifiers(in directory: String, fitting name: String) -> [String] {
    let files = (try? DomainListing.files(in: PreferenceDirectory(directory))) ?? []
    let identifiers = files.filter { $0.hasSuffix(".desktop") }.map { String($0.dropLast(".desktop".count)) }
    if identifiers.contains(name) { return [name] }
    return identifiers.filter { identifier in
      identifier.split(separator: ".").last.map(String.init) == name || title(of: "\(directory)/\(identifier).desktop") == name
    }
  }

  /// `Name=` of the group `[Desktop Entry]`, without a locale.
  private static func title(of path: String) -> String? {
    guard let bytes = try? LockedFile.content(of: path) else { return nil }
    let lines = bytes.split(separator: UInt8(ascii: "\n")).map { String(decoding: $0, as: UTF8.self) }
    let group = lines.drop { !$0.hasPrefix("[Desktop Entry]") }.dropFirst().prefix { !$0.hasPrefix("[") }
    return group.first { $0.hasPrefix("Name=") }.map { String($0.dropFirst("Name=".count)) }
  }
}
