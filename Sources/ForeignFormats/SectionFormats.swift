internal import ProgramSecrets
internal import VaultCore

/// One section of a file, such as a profile.
struct SettingsSection {
  let name: String
  let line: Int
  var settings: [(name: String, value: Range<Int>, line: Int, isContinued: Bool)] = []

  func value(_ name: String) -> Range<Int>? { settings.last { $0.name.lowercased() == name && !$0.value.isEmpty }?.value }

  /// A value of several lines would be read in part.
  func continued(_ names: [String]) -> LostPart? {
    settings.first { $0.isContinued && names.contains($0.name.lowercased()) }
      .map { LostPart(line: $0.line, what: "\(name): \($0.name)", .continued) }
  }

  /// - Throws: `sectionMissing`, for a setting before the first section; as `SettingsLines`.
  static func all(of text: SourceText) throws -> [SettingsSection] {
    var sections: [SettingsSection] = []
    for line in try SettingsLines(text, hasSections: true).lines {
      switch line.kind {
      case .section(let name): sections.append(SettingsSection(name: name, line: line.number))
      case .setting(let name, let value):
        guard !sections.isEmpty else { throw ForeignError(.sectionMissing, line: line.number) }
        sections[sections.count - 1].settings.append((name, value, line.number, false))
      case .continuation:
        let section = sections.count - 1
        sections[section].settings[sections[section].settings.count - 1].isContinued = true
      }
    }
    return sections
  }
}

/// `~/.pypirc`: a section for each index, whose name is the service.
package enum PypircFormat {
  /// - Throws: as `SettingsSection.all(of:)`; `fieldTooLarge`.
  package static func items(of text: SourceText) throws -> ForeignItems {
    var result = ForeignItems()
    for section in try SettingsSection.all(of: text) {
      guard section.name != "distutils" else {
        result.lost += section.settings.map { LostPart(line: $0.line, what: $0.name, .setting) }
        continue
      }
      if let part = section.continued(["username", "password"]) {
        result.lost.append(part)
        continue
      }
      guard let value = section.value("password") else {
        result.lost.append(LostPart(line: section.line, what: section.name, .noSecret))
        continue
      }
      let user = section.value("username").map(text.text) ?? ""
      var item = ForeignItem(
        Item(service: section.name, account: user), try text.secret(value), line: section.line, value: value)
      item.item[ForeignItem.kind] = "pypi"
      for setting in section.settings where !["username", "password"].contains(setting.name.lowercased()) {
        if setting.isContinued {
          result.lost.append(LostPart(line: setting.line, what: "\(section.name): \(setting.name)", .continued))
        } else {
          item.set("pypi.\(setting.name.lowercased())", to: text.text(setting.value))
        }
      }
      result.items.append(item)
    }
    result.keepLast(listedBy: "service")
    return result
  }
}

/// `~/.aws/credentials`: a section for each profile. `coffer credential aws PROFILE` answers with these items.
package enum AWSFormat {
  package static let service = "aws"
  package static let kind = "aws"
  package static let accessKeyField = "aws.access-key-id"
  package static let accessKey = Item.userPrefix + accessKeyField
  package static let sessionToken = "session-token"
  /// The settings that are one credential.
  package static let credential = ["aws_access_key_id", "aws_secret_access_key", "aws_session_token"]

  /// - Throws: as `SettingsSection.all(of:)`; `fieldTooLarge`.
  package static func items(of text: SourceText) throws -> ForeignItems {
    var result = ForeignItems()
    for section in try SettingsSection.all(of: text) {
      if let part = section.continued(credential) {
        result.lost.append(part)
        continue
      }
      guard let value = section.value(credential[1]) else {
        let isElsewhere = section.value("credential_process") != nil
        result.lost.append(LostPart(line: section.line, what: section.name, isElsewhere ? .elsewhere : .noSecret))
        continue
      }
      var item = ForeignItem(
        Item(service: service, account: section.name), try text.secret(value), line: section.line, value: value)
      item.item[ForeignItem.kind] = kind
      item.item[accessKey] = section.value(credential[0]).map(text.text)
      if let token = section.value(credential[2]) {
        item.add(.init(field: sessionToken, secret: try text.secret(token)))
      }
      for setting in section.settings where !credential.contains(setting.name.lowercased()) {
        result.lost.append(LostPart(line: setting.line, what: "\(section.name): \(setting.name)", .setting))
      }
      result.items.append(item)
    }
    result.keepLast(listedBy: "account")
    return result
  }

  /// Whether a profile has `credential_process`, also without a value. The programs of AWS read no file in which it stands twice.
  package static func hasProcess(_ profile: String, in text: SourceText) throws -> Bool {
    try SettingsSection.all(of: text).contains { section in
      section.name.utf8.elementsEqual(profile.utf8) && section.settings.contains { $0.name.lowercased() == "credential_process" }
    }
  }

  /// The values of a profile's credential, in the order of the file.
  package static func credentialLines(of profile: String, in text: SourceText) -> [Range<Int>] {
    let sections = (try? SettingsSection.all(of: text)) ?? []
    let section = sections.last { $0.name.utf8.elementsEqual(profile.utf8) && $0.value(credential[1]) != nil }
    return section?.settings.filter { credential.contains($0.name.lowercased()) }.map(\.value) ?? []
  }
}
