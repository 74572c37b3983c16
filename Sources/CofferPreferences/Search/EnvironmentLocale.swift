internal import CofferPropertyLists

/// `AppleLanguages` and `AppleLocale`, derived from the environment.
///
/// As in gettext: the first of `LC_ALL`, `LC_MESSAGES` and `LANG` that is set is the locale; unless it is C, the languages in
/// `LANGUAGE` precede it. The names are Apple's: `de-DE`, `sr-Latn-RS`, `zh-Hans-CN`, and `de_DE` for the locale.
enum EnvironmentLocale {
  static func values(_ environment: (String) -> String?) -> PropertyListDictionary {
    func variable(_ name: String) -> String? { environment(name).flatMap { $0.isEmpty ? nil : $0 } }
    let name = ["LC_ALL", "LC_MESSAGES", "LANG"].compactMap(variable).first
    let locale = name.flatMap { LocaleName($0) }
    var languages: [String] = []
    if let locale {
      let names = (variable("LANGUAGE") ?? "").split(separator: ":").compactMap { LocaleName(String($0))?.tag }
      for tag in names + [locale.tag] where !languages.contains(tag) { languages.append(tag) }
    } else {
      languages = ["en"]
    }
    var values = PropertyListDictionary()
    values["AppleLanguages"] = .array(languages.map { .string($0) })
    values["AppleLocale"] = .string(locale?.identifier ?? "en_US_POSIX")
    return values
  }
}

/// `language[_REGION][.codeset][@modifier]`
private struct LocaleName {
  private static let scriptsOfRegions = [
    "zh": ["CN": "Hans", "SG": "Hans", "TW": "Hant", "HK": "Hant", "MO": "Hant"]
  ]
  private static let scriptsOfModifiers = ["latin": "Latn", "cyrillic": "Cyrl", "devanagari": "Deva", "arabic": "Arab"]

  private let language: String
  private let region: String?
  private let script: String?

  /// Returns nil for C, POSIX and invalid names.
  init?(_ text: String) {
    let parts = text.split(separator: "@", maxSplits: 1, omittingEmptySubsequences: false)
    let name = parts[0].prefix { $0 != "." }.split(separator: "_", maxSplits: 1, omittingEmptySubsequences: false)
    guard let language = name.first, (2...3).contains(language.utf8.count), Self.areLetters(language) else { return nil }
    self.language = language.lowercased()
    if name.count == 2 {
      let isNumber = name[1].utf8.count == 3 && name[1].utf8.allSatisfy { (0x30...0x39).contains($0) }
      guard isNumber || name[1].utf8.count == 2 && Self.areLetters(name[1]) else { return nil }
      region = name[1].uppercased()
    } else {
      region = nil
    }
    script =
      parts.count == 2
      ? Self.scriptsOfModifiers[String(parts[1])] : region.flatMap { Self.scriptsOfRegions[language.lowercased()]?[$0] }
  }

  private static func areLetters(_ text: Substring) -> Bool {
    text.utf8.allSatisfy { (0x61...0x7A).contains($0 | 0x20) && $0 < 0x80 }
  }

  /// The language tag of BCP 47.
  var tag: String { [language, script, region].compactMap { $0 }.joined(separator: "-") }

  var identifier: String { [language, script, region].compactMap { $0 }.joined(separator: "_") }
}
