import AccessRights
import CofferRequests
import CofferTesting
import CofferWire
import Pinentry
import SecretMemory
import Testing
import VaultCore

// Testing has one of its own.
import struct CofferRequests.Confirmation

@testable import CofferAgent

@Suite struct QuestionTextTests {
  private func confirmation(
    _ item: Item, _ group: AccessGroup, _ deed: Confirmation.Deed = .read, purpose: String = ""
  ) -> Confirmation {
    Confirmation(
      subject: .group(group), deed: deed, rights: .read, group: group, entry: nil, item: item, purpose: purpose, minutes: nil,
      grants: [])
  }

  /// A pinentry takes one line of 1,000 bytes, and ends at a longer one.
  @Test func theLongestNamesFitALine() throws {
    for character in ["x", "%", "\u{1}", "\\", "漢", "\u{E0041}"] {
      let text = String(repeating: character, count: 100_000)
      var item = Item(service: text, account: text)
      item.label = text
      let name = character == "\u{1}" ? "%" : character
      let group = try AccessGroup(String(repeating: name, count: 255 / name.utf8.count))
      let application = String(repeating: "a", count: 32) + "." + String(repeating: "x", count: 155)
      for program in [
        ProgramIdentity.app(application), .unknown(text), .program(path: text, digest: "d"), .interpreter(path: text),
        .client(.app(application), of: .secretService), .client(.interpreter(path: text), of: .secretService),
      ] {
        let question = QuestionText.question(
          confirmation(item, group, .move(to: group), purpose: text), program, vault: text, minutes: OwnerQuestions.maximumMinutes
        )
        let count = question.description.utf8.reduce("SETDESC ".utf8.count) {
          $0 + ($1 == UInt8(ascii: "%") || $1 < 0x20 ? 3 : 1)
        }
        #expect(count <= 1000, "\(character): \(count)")
        #expect(question.description.contains(" more)\""))
        #expect(question.description.hasSuffix("Anything else refuses."))
      }
    }
  }

  @Test func itemsHaveNames() throws {
    func name(_ item: Item) throws -> String? {
      let text = QuestionText.question(confirmation(item, .standard), .command, vault: "v", minutes: 0).description
      return text.split(separator: "\n").dropFirst(4).first.map(String.init)
    }
    var labelled = Item(service: "mail", account: "ada\nyou")
    labelled.label = "My mail"
    #expect(try name(labelled) == "mail/ada\\u{a}you (My mail)")
    #expect(try name(Item(.certificate)) == "certificate")
    var internet = Item(.internetPassword)
    internet["server"] = "example.com"
    internet["account"] = "ada"
    #expect(try name(internet) == "example.com/ada")
    var note = Item(.note)
    note["title"] = "door"
    #expect(try name(note) == "door")
  }

  @Test func minutesAreOneOrMore() {
    func line(_ minutes: Int) -> String? {
      let text = QuestionText.question(confirmation(Item(.note), .standard), .command, vault: "v", minutes: minutes).description
      return text.split(separator: "\n").dropLast().last.map(String.init)
    }
    #expect(QuestionText.words(minutes: 0).second == nil)
    #expect(line(0) == "Type \"yes\" to allow it once.")
    #expect(line(1) == "Type \"yes\" to allow it once, \"longer\" to allow it for 1 minute.")
    #expect(line(2) == "Type \"yes\" to allow it once, \"longer\" to allow it for 2 minutes.")
  }

  /// The wire and the display accept the same characters.
  @Test func aDisplayGoesOverTheWire() throws {
    var display = Attributes()
    for name in Display.fieldNames { display[name] = .text("x") }
    let salt = [UInt8](repeating: 7, count: 16)
    let frame = try Request.session(.unlock(.derived(Secret(count: 32), .passphrase, salt: salt), display: display)).frame(
      request: 1)
    let body = try frame.withBytes { try Secret(copying: $0.extracting(FrameHeader.byteCount..<$0.byteCount)) }
    guard case .session(.unlock(_, let found)) = try Request.parse(.unlock, Message(parsing: body)) else {
      Issue.record("another call")
      return
    }
    #expect(found == display)
    #expect(try Display(fields: found).fields == display)
  }
}
