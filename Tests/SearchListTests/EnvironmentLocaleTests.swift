import CofferPreferences
import CofferPropertyLists
import Testing

@Suite struct EnvironmentLocaleTests {
  private func list(_ environment: [String: String]) throws -> ApplicationList {
    let lists = SearchLists(
      places: SearchPlaces(user: "/nowhere"), volatileDomains: VolatileDomains(arguments: []) { environment[$0] },
      source: UnavailableDomainSource(PreferenceError(.noPlace)))
    let use = lists.list(try DomainName("com.example.app"))
    return use.application
  }

  @Test(
    "AppleLanguages and AppleLocale are those of the environment",
    arguments: [
      ([:], ["en"], "en_US_POSIX"),
      (["LANG": "C"], ["en"], "en_US_POSIX"),
      (["LANG": "C.UTF-8", "LANGUAGE": "de"], ["en"], "en_US_POSIX"),
      (["LANG": "POSIX"], ["en"], "en_US_POSIX"),
      (["LANG": "de_DE.UTF-8"], ["de-DE"], "de_DE"),
      (["LANG": "de_DE@euro"], ["de-DE"], "de_DE"),
      (["LANG": "de_DE.UTF-8", "LC_MESSAGES": "fr_CA.UTF-8"], ["fr-CA"], "fr_CA"),
      (["LANG": "de_DE", "LC_MESSAGES": "fr_CA", "LC_ALL": "ja_JP.UTF-8"], ["ja-JP"], "ja_JP"),
      (["LANG": "de_DE", "LC_ALL": ""], ["de-DE"], "de_DE"),
      (["LANG": "de_AT.UTF-8", "LANGUAGE": "de_AT:de:en_GB:en"], ["de-AT", "de", "en-GB", "en"], "de_AT"),
      (["LANG": "en_GB", "LANGUAGE": ":xx1:sv::sv"], ["sv", "en-GB"], "en_GB"),
      (["LANG": "sr_RS.UTF-8@latin"], ["sr-Latn-RS"], "sr_Latn_RS"),
      (["LANG": "zh_CN.UTF-8"], ["zh-Hans-CN"], "zh_Hans_CN"),
      (["LANG": "zh_TW"], ["zh-Hant-TW"], "zh_Hant_TW"),
      (["LANG": "es_419"], ["es-419"], "es_419"),
      (["LANG": "../../etc"], ["en"], "en_US_POSIX"),
    ] as [([String: String], [String], String)])
  func derived(_ environment: [String: String], _ languages: [String], _ locale: String) throws {
    let list = try list(environment).list
    #expect(list.value(forKey: "AppleLanguages")?.coercedToStringArray == languages)
    #expect(list.string(forKey: "AppleLocale") == locale)
    let finding = list.explain("AppleLocale").first { $0.value != nil }
    #expect(finding?.kind == .global)
    #expect(finding?.name == "NSGlobalDomain")
  }

  @Test("stored and forced values precede the environment, and registered values follow it")
  func order() throws {
    let application = try list(["LANG": "de_DE"])
    let registration = application.list.entries.last?.domain as? VolatileDomain
    registration?.set(.string("registered"), forKey: "AppleLocale")
    #expect(application.list.string(forKey: "AppleLocale") == "de_DE")
    let global = application.list.entries.first { $0.kind == .global }?.domain as? any WritableDomain
    _ = global?.keep(.string("fr_FR"), forKey: "AppleLocale")
    #expect(application.list.string(forKey: "AppleLocale") == "fr_FR")
    _ = application.own.keep(.string("it_IT"), forKey: "AppleLocale")
    #expect(application.list.string(forKey: "AppleLocale") == "it_IT")
  }

  @Test func withoutAnEnvironmentThereIsNoSuchEntry() {
    let lists = SearchLists(
      places: SearchPlaces(user: "/nowhere"), volatileDomains: VolatileDomains(arguments: []),
      source: UnavailableDomainSource(PreferenceError(.noPlace)))
    #expect(lists.list(.global).application.list.value(forKey: "AppleLanguages") == nil)
  }
}
