import CofferCommand
import CofferTesting
import Foundation

@testable import Passphrases
@testable import SecretMemory
@testable import VaultCore

extension FuzzTarget {
  /// Input of a person.
  static let texts: [FuzzTarget] = [
    FuzzTarget("passphrase") { bytes in
      let normalized: [UInt8]
      do {
        normalized = try NormalizedText(composing: Secret(testing: bytes)).bytes.copyIntoUnprotectedBytes()
      } catch let error as VaultError {
        guard error.code == .passphraseNotText else { return }
        return try promise(String(validating: bytes, as: UTF8.self) == nil, "text is text")
      }
      guard let text = String(validating: bytes, as: UTF8.self) else { throw Broken(promise: "what is no text is refused") }
      guard normalized.count <= 4096 else { return }
      let twice = try NormalizedText(composing: Secret(testing: normalized))
      let again = twice.bytes.copyIntoUnprotectedBytes()
      try promise(again == normalized, "once is enough")
      // Foundation may use a later version of Unicode.
      guard twice.isAssigned else { return }
      try promise(
        normalized == Array(text.precomposedStringWithCanonicalMapping.utf8), "two implementations normalise to the same bytes")
    },
    FuzzTarget("recovery-key") { bytes in
      let key = try RecoveryKey.parse(Secret(testing: bytes))
      let text = try RecoveryKey.text(key)
      let again = try RecoveryKey.parse(text)
      let isSame = key.secret.isEqual(to: again.secret)
      try promise(isSame, "a recovery key is read as it was written")
      let letters = bytes.filter { $0 != 0x20 && $0 != 0x2D }.map { $0 >= 0x61 ? $0 - 0x20 : $0 }
      let written = text.copyIntoUnprotectedBytes().filter { $0 != 0x2D }
      try promise(letters == written, "one text for each key")
    },
    FuzzTarget("item-name") { bytes in
      let text = String(decoding: bytes, as: UTF8.self)
      let name = try ItemName(parsing: text)
      for part in [name.group, name.service, name.account, name.field] {
        let isPlain = part?.unicodeScalars.allSatisfy { $0.value >= 0x20 && !(0x7F..<0xA0).contains($0.value) } ?? true
        try promise(isPlain, "no control characters")
        try promise((part?.utf8.count ?? 0) <= 1024, "a name's length")
      }
      if !text.contains("://"), name.account != nil || !text.contains("/") {
        try promise(name.description.utf8.elementsEqual(text.utf8), "a plain name is what was typed")
      }
      func encoded(_ part: String) -> String { part.utf8.map { "%" + (($0 < 16) ? "0" : "") + String($0, radix: 16) }.joined() }
      let uri =
        "coffer://\(encoded(name.group ?? "g"))/\(encoded(name.service))" + (name.account.map { "/" + encoded($0) } ?? "")
        + (name.field.map { "#" + encoded($0) } ?? "")
      guard !name.service.isEmpty, name.group != "" else { return }
      let again = try ItemName(parsing: uri)
      try promise(
        (again.service, again.account, again.field) == (name.service, name.account, name.field), "encoding loses nothing")
    },
  ]
}
