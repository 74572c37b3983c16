internal import CofferFiles
internal import CofferPreferences
internal import Foundation

/// The settings of this process. Environment and arguments are read once, at the first use.
enum ProcessStore {
  static let lists: SearchLists = {
    let volatileDomains = VolatileDomains(arguments: ProcessInfo.processInfo.arguments) { Environment[$0] }
    do throws(PreferenceError) {
      let places = try SearchPlaces { Environment[$0] }
      // Functions of atexit(3) run in reverse order: the messages are awaited after the last work, which may cause some.
      Diagnostics.start()
      ChangeWatch.start()
      return SearchLists(places: places, volatileDomains: volatileDomains, source: FileDomainSource())
    } catch {
      // The program runs on with its registered defaults.
      Diagnostics.unusable(error)
      return SearchLists(
        places: SearchPlaces(user: ""), volatileDomains: volatileDomains, source: UnavailableDomainSource(error))
    }
  }()

  static let domainName = name(
    lists.places.applicationIdentifier ?? Bundle.main.bundleIdentifier ?? ProcessInfo.processInfo.processName)

  /// Replaces the characters that a file name must not have, because a process may have any name.
  static func name(_ wanted: String) -> DomainName {
    if let name = try? DomainName(wanted) { return name }
    let letters = wanted.utf8.map { byte in
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
        UInt8(ascii: "-"):
        byte
      default: UInt8(ascii: "_")
      }
    }
    let name = letters.isEmpty ? "unnamed" : String(decoding: letters.prefix(PreferenceLimits.nameByteCount), as: UTF8.self)
    // A name of these characters is always valid.
    return (try? DomainName(name)) ?? .global
  }
}
