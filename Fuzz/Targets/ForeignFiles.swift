import CofferTesting
import ForeignFormats
import ProgramSecrets
import SecretMemory

extension FuzzTarget {
  /// Files of other programs: a byte that chooses the format, and the file.
  static let foreign: [FuzzTarget] = [
    FuzzTarget("foreign") { bytes in
      guard let choice = bytes.first else { return }
      let file = Array(bytes.dropFirst())
      let isText = String(validating: file, as: UTF8.self) != nil && !file.contains(0)
      let text: SourceText
      do {
        text = try SourceText(Secret(testing: file))
      } catch {
        return try promise(!isText, "text is read")
      }
      try promise(isText, "what is no text is refused")
      let found = try items(of: text, choice)
      for item in found.items {
        try promise(item.value.upperBound <= file.count, "a value lies in the file")
        try promise(item.line >= 1 && item.line <= file.count { $0 == 0x0A } + 1, "an item has a line")
      }
      let keys = found.items.map { "\($0.item)" }
      try promise(Set(keys).count == keys.count || choice % 7 == 4, "no item stands twice")
    }
  ]

  private static func items(of text: SourceText, _ choice: UInt8) throws -> ForeignItems {
    switch choice % 7 {
    case 0: try DotenvFormat.items(of: text, service: "s")
    case 1: try NetrcFormat.items(of: text)
    case 2: try GitCredentialsFormat.items(of: text)
    case 3: try DockerFormat.items(of: text)
    case 4: try NpmrcFormat.items(of: text)
    case 5: try PypircFormat.items(of: text)
    default: try AWSFormat.items(of: text)
    }
  }
}
