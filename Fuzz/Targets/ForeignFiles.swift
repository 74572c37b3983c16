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
      // Programs for passwords have entries of one name.
      guard choice % formatCount < 7, choice % formatCount != 4 else { return }
      let keys = found.items.map { "\($0.item)" }
      try promise(Set(keys).count == keys.count, "no item stands twice")
    }
  ]

  private static func bytes(of text: SourceText) -> [UInt8] { (0..<text.count).map { text[$0] } }

  private static let formatCount: UInt8 = 15

  private static func items(of text: SourceText, _ choice: UInt8) throws -> ForeignItems {
    switch choice % formatCount {
    case 0: try DotenvFormat.items(of: text, service: "s")
    case 1: try NetrcFormat.items(of: text)
    case 2: try GitCredentialsFormat.items(of: text)
    case 3: try DockerFormat.items(of: text)
    case 4: try NpmrcFormat.items(of: text)
    case 5: try PypircFormat.items(of: text)
    case 6: try AWSFormat.items(of: text)
    case 7: try CSVFormat.items(of: text, from: .chrome)
    case 8: try CSVFormat.items(of: text)
    case 9: try BitwardenFormat.items(of: text)
    case 10: try OnePasswordFormat.items(of: text).items
    case 11: try KeePassFormat.items(of: text).items
    case 12:
      try ForeignItems([PassFormat.item(of: HeldSecret(Secret(testing: bytes(of: text))), named: ["a", "b"])].compactMap(\.self))
    case 13: ForeignItems(try KubeFormat.users(of: text).map(\.item))
    default: ForeignItems(try CargoFormat.tokens(of: text).map(\.item))
    }
  }
}
