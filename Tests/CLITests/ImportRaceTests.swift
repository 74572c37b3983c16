import Coffer
import CofferConsole
import CofferLifecycle
import CofferTesting
import ProgramSecrets
import SecretMemory
import Testing
import VaultCore

@testable import CofferCommand
@testable import ForeignFormats

/// Another program changes an item between the comparison of an import and its write.
@Suite struct ImportRaceTests {
  private let store = MemoryStore()
  private let item = Item(service: "mail", account: "ada")

  /// Plans the import of `item`, has `change` done to the vault, and carries the plan out.
  /// - Returns: the exit status of the failure, and the secret of the item then.
  private func imported(_ change: (inout Vault, Entry?) throws -> Void) throws -> (status: Int32?, secret: String?) {
    var source = try Vault.throwAway()
    try source.add(item, secret: Secret(testing: "imported"), at: .test)
    let items = OpenItems(try Keychain(.openThrowAway(store), as: .owner), application: nil)
    var plan = try ImportPlan(for: source.entries().entries, of: source, named: "other", in: items, step: { _, _ in })
    plan.settle(.replaced)
    var status: Int32?
    do {
      _ = try plan.carryOut(from: source, named: "other", in: items) { _, _ in
        var other = try Vault.openThrowAway(store)
        try change(&other, other.entry(item))
      }
    } catch let failure as Failure {
      status = failure.status.rawValue
    }
    let vault = try Vault.openThrowAway(store)
    guard let entry = try vault.entry(item) else { return (status, nil) }
    return (status, String(decoding: try vault.secret(of: entry.reference).copyIntoUnprotectedBytes(), as: UTF8.self))
  }

  private func make(_ secret: String?) throws {
    var vault = try Vault.throwAway(in: store)
    guard let secret else { return }
    try vault.add(item, secret: Secret(testing: secret), at: .test)
  }

  @Test func aValueThatWasNotComparedIsNotReplaced() throws {
    try make("here")
    let outcome = try imported { try $0.update(#require($1).reference, secret: Secret(testing: "meanwhile"), at: .test) }
    #expect(outcome.status == 12 && outcome.secret == "meanwhile")
  }

  @Test func anItemThatHasComeMeanwhileIsNotReplaced() throws {
    try make(nil)
    let outcome = try imported { vault, entry in
      if entry == nil { try vault.add(item, secret: Secret(testing: "meanwhile"), at: .test) }
    }
    #expect(outcome.status == 4 && outcome.secret == "meanwhile")
  }

  @Test func anItemThatWasRemovedMeanwhileDoesNotComeBack() throws {
    try make("here")
    let outcome = try imported { try $0.remove(#require($1).reference, at: .test) }
    #expect(outcome.status == 3 && outcome.secret == nil)
  }

  /// The control.
  @Test func withoutAChangeItIsReplaced() throws {
    try make("here")
    let outcome = try imported { _, _ in }
    #expect(outcome.status == nil && outcome.secret == "imported")
  }

  // MARK: Files of other programs

  private func found(_ account: String) throws -> ForeignItem {
    let secret = HeldSecret(try Secret(testing: "of \(account)"))
    return ForeignItem(service: "web", account: account, secret, line: 1, value: 0..<1)
  }

  /// New items are added in one commit. If one has come meanwhile, those before it are added, and it is named.
  @Test(arguments: [nil, "b"]) func newItemsShareACommit(meanwhile: String?) throws {
    try make(nil)
    let keychain = try Keychain(.openThrowAway(store), as: .owner)
    let items = OpenItems(keychain, application: nil)
    let work = try LongWork("copying")
    let plan = try ForeignPlan(for: ["a", "b", "c"].map { try found($0) }, in: items, group: .standard, work)
    var other = try Vault.openThrowAway(store)
    if let meanwhile {
      try other.add(Item(service: "web", account: meanwhile), secret: Secret(testing: "meanwhile"), at: .test)
    }
    let before = try other.generation()
    var failure: Failure?
    do { try plan.carryOut(in: items, work) } catch let error as Failure { failure = error }
    work.end()
    #expect(try other.generation() == before + 1)
    let accounts = try other.entries().entries.compactMap { $0.item["account"] }.sorted()
    #expect(accounts == (meanwhile == nil ? ["a", "b", "c"] : ["a", "b"]))
    #expect(failure?.status.rawValue == meanwhile.map { _ in 4 })
    #expect(failure.map { $0.message.hasPrefix("web/b: ") && $0.hint == "the same command again goes on" } ?? true)
    for account in meanwhile == nil ? ["a", "b", "c"] : ["a"] {
      let entry = try #require(try other.entry(Item(service: "web", account: account)))
      let secret = try other.secret(of: entry.reference).copyIntoUnprotectedBytes()
      #expect(String(decoding: secret, as: UTF8.self) == "of \(account)")
    }
  }
}
