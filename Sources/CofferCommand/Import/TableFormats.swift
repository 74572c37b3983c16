import ArgumentParser
import CofferConsole
import ForeignFormats

/// Tables of passwords.
enum CSVImport: ForeignTextFormat {
  static let name = "csv"
  static let abstract = "Import a table of passwords (CSV)."

  struct Options: ForeignFormatOptions {
    @Option(
      name: .customLong("column"),
      help: ArgumentHelp(
        "The meaning of a column: service, account, secret, title, url, notes, otp, folder, attribute, companion or none. May be repeated.",
        valueName: "name=part"))
    var columns: [ColumnPart] = []

    @OptionGroup var folders: FolderOptions

    var isGrouping: Bool { folders.isGrouping }
  }

  static func items(of text: SourceText, _ own: Options, from _: String?) throws -> ForeignItems {
    try CSVFormat.items(of: text, parts: own.columns.map { ($0.column, $0.part) })
  }
}

/// `NAME=PART`: the name may hold a `=`.
struct ColumnPart: ExpressibleByArgument {
  let column: String
  let part: CSVFormat.Part

  init?(argument: String) {
    guard let equals = argument.lastIndex(of: "="),
      let part = CSVFormat.Part(rawValue: String(argument[argument.index(after: equals)...]))
    else { return nil }
    (column, self.part) = (String(argument[..<equals]), part)
  }
}

enum ChromeImport: ForeignTextFormat {
  static let name = "chrome"
  static let abstract = "Import the passwords of Chrome, Chromium, Edge, Brave or Opera (CSV)."

  static func items(of text: SourceText, _: NoFormatOptions, from _: String?) throws -> ForeignItems {
    try CSVFormat.items(of: text, from: .chrome)
  }
}

enum FirefoxImport: ForeignTextFormat {
  static let name = "firefox"
  static let abstract = "Import the passwords of Firefox (CSV)."

  static func items(of text: SourceText, _: NoFormatOptions, from _: String?) throws -> ForeignItems {
    try CSVFormat.items(of: text, from: .firefox)
  }
}

enum AppleImport: ForeignTextFormat {
  static let name = "apple"
  static let abstract = "Import the passwords of macOS and iOS (CSV)."

  static func items(of text: SourceText, _: NoFormatOptions, from _: String?) throws -> ForeignItems {
    try CSVFormat.items(of: text, from: .apple)
  }
}
