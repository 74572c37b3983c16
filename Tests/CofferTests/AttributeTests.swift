import Coffer
import CofferTesting
import SecretMemory
import Testing
import VaultCore

/// The same attributes are taken and refused by a vault in the process and by an agent, which goes on with the connection.
@Suite struct AttributeTests {
  private let item = Item(service: "mail", account: "ada")

  private func with(_ name: String, _ value: AttributeValue) -> Item {
    var item = item
    item.attributes[name] = value
    return item
  }

  @Test(arguments: Transport.allCases) func emptyPrimaryAttributesAreAbsentOnes(transport: Transport) throws {
    let teams = try Teams(transport)
    let editor = try teams.keychain(teams.editor)
    let reference = try editor.add(with("account", .text("")), secret: Secret(testing: "one"))
    #expect(try editor.entry(reference).item.attributes["account"] == nil)
    #expect(KeychainTests.code { try editor.add(Item(service: "mail", account: ""), secret: Secret(testing: "x")) } == .duplicate)
    let updated = try editor.update(reference) { $0.attributes["account"] = .text("") }
    #expect(updated == reference)
    let own = try AccessGroup(teams.editor.manifest.applicationIdentifier)
    let moved = try editor.move(reference, to: own) { $0.attributes["account"] = .text("") }
    #expect(try KeychainTests.text(editor.secret(of: moved)) == "one")
  }

  @Test(arguments: Transport.allCases) func attributesThatNoItemHasAreRefused(transport: Transport) throws {
    let teams = try Teams(transport)
    let editor = try teams.keychain(teams.editor)
    let long = String(repeating: "x", count: 70_000)
    for refused in [
      with("account", .integer(1)), with("label", .data([1])), with("", .text("x")), with("user.\n", .text("x")),
      with("user.\(long)", .text("x")), with("user.a", .text(long)),
    ] {
      #expect(KeychainTests.code { try editor.add(refused, secret: Secret(testing: "x")) } == .notAllowed)
    }
    let reference = try editor.add(item, secret: Secret(testing: "one"))
    #expect(KeychainTests.code { try editor.update(reference) { $0.attributes["service"] = .time(.test) } } == .notAllowed)
    #expect(try editor.items().map(\.reference) == [reference])
    guard transport != .inProcess else { return }
    #expect(KeychainTests.code { try editor.secret(of: reference, purpose: long) } == .notAllowed)
    #expect(try KeychainTests.text(editor.secret(of: reference)) == "one")
  }
}
