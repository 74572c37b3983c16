import ArgumentParser
import ForeignFormats

/// `--format`: files in plain text.
enum PlainFormat: String, ExpressibleByArgument, CaseIterable {
  case csv, bitwarden, dotenv

  func writer(for outlines: [ExportedItem.Outline]) -> any ExportFormat {
    switch self {
    case .csv: CSVExport(for: outlines)
    case .bitwarden: BitwardenExport(for: outlines)
    case .dotenv: DotenvExport()
    }
  }

  var holdsVersions: Bool { writer(for: []).holdsVersions }
}

extension ExportLoss.Reason {
  var words: String {
    switch self {
    case .notText: "is not text, as the format needs"
    case .noPlace: "the format has no place for it"
    case .otherClass: "an import makes a generic password of it"
    case .sameName: "the file has another item of this name"
    case .notVariable: "the account is not the name of a variable"
    case .changed: "an import reads something else"
    }
  }
}
