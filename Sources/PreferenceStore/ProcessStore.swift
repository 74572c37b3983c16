internal import Foundation
internal import Preferences

/// The settings of this process, as its environment and its arguments have them at the first use.
enum ProcessStore {
  static let lists: SearchLists = {
    let environment = ProcessInfo.processInfo.environment
    let volatileDomains = VolatileDomains(arguments: ProcessInfo.processInfo.arguments) { environment[$0] }
    do throws(PreferenceError) {
      let places = try SearchPlaces { environment[$0] }
      ChangeWatch.start()
      return SearchLists(places: places, volatileDomains: volatileDomains, source: FileDomainSource())
    } catch {
      // The program runs on its defaults.
      Diagnostics.unusable(error)
      return SearchLists(
        places: SearchPlaces(user: ""), volatileDomains: volatileDomains, source: UnavailableDomainSource(error))
    }
  }()

  static let domainName = name(
    lists.places.applicationIdentifier ?? Bundle.main.bundleIdentifier ?? ProcessInfo.processInfo.processName)

  /// The name of a program may be one that no file can have.
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
    // Such a name is always one that a file can have.
    return (try? DomainName(name)) ?? .global
  }
}
