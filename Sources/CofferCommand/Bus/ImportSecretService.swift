import ArgumentParser
import Coffer
import CofferConsole
import ProgramSecrets
import SecretMemory
import VaultCore

struct ImportSecretService: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "secret-service", abstract: "Import what another program, such as gnome-keyring, keeps for the desktop.",
    discussion: """
      The program serves the Secret Service now. Each item keeps its collection, label and attributes. Items whose attributes the vault has \
      with another secret are listed and nothing is changed, unless --replace or --keep decides.
      """)

  @OptionGroup var options: ProviderOptions

  func run() throws {
    try options.transfer { _ in
      "in the vault"
    } plan: { (plan: inout Plan, items, provider, work) in
      let targets = try targets(of: options.chosen(of: provider), provider, items.keychain)
      for target in targets { try add(target, from: provider, items, work, to: &plan) }
      return targets
    } copy: { plan, targets, items, provider, work in
      try copy(&plan, targets, from: provider, to: items, work)
    }
  }

  private struct Found {
    let path: String
    let content: ServedContent
    let modified: UInt64
    let target: Int
  }

  private typealias Plan = TransferPlan<Found, StoredItem>

  /// A collection of the other program, and the one of the vault that gets its items.
  private struct Target {
    let collection: OtherProvider.Collection
    /// nil: it has to be made.
    let name: String?
    let index: Int
    let isDefault: Bool
  }

  /// The one for what programs keep at log-in is `login` here as well, and others are those of the same label.
  private func targets(
    of collections: [OtherProvider.Collection], _ provider: OtherProvider, _ keychain: Keychain
  ) throws -> [Target] {
    let catalog = try keychain.servedCatalog()
    let usual = try provider.collection(at: "default")
    let login = try provider.collection(at: "login")
    return collections.enumerated().map { index, collection in
      let isLogin = collection.path == (login.isEmpty ? usual : login)
      let same = catalog.collections.first { $0.label == collection.label && $0.name != ServedCollection.sessionName }
      return Target(
        collection: collection, name: isLogin ? ServedCollection.loginName : same?.name, index: index,
        isDefault: collection.path == usual && !isLogin)
    }
  }

  private func add(
    _ target: Target, from provider: OtherProvider, _ items: OpenItems, _ work: LongWork, to plan: inout Plan
  ) throws {
    let label = target.collection.label
    let present = try target.name.map { try items.stored(in: $0) } ?? []
    var found: [Found] = []
    var paths = try provider.items(of: target.collection)
    for isAgain in [false, true] {
      let locked = try look(at: paths, again: isAgain, target, provider, work, &found, &plan)
      try options.unlock(itemsAt: locked, of: label, provider)
      paths = locked
    }
    found.sort { $0.modified < $1.modified }
    let groups = Dictionary(grouping: found, by: \.content.name).sorted { $0.value[0].path < $1.value[0].path }
    for (name, same) in groups {
      try plan.add(
        same.map { ($0, $0.content.label ?? "") }, collection: label,
        present: present.filter {
          ServedContent(of: $0.entry.item).name == name
        } orElse: {
          same[0].content.isKept(of: ServedContent(of: $0.entry.item).name)
        }
      ) { found, stored in
        let secret = try items.keychain.secret(of: stored.entry.reference, purpose: "to compare it")
        return try provider.secret(of: found.path).held.secret.isEqual(to: secret)
      }
    }
  }

  /// - Parameter again: Items that are locked still are listed as lost.
  /// - Returns: Those that are locked.
  private func look(
    at paths: [String], again: Bool, _ target: Target, _ provider: OtherProvider, _ work: LongWork, _ found: inout [Found],
    _ plan: inout Plan
  ) throws -> [String] {
    var locked: [String] = []
    for (index, path) in paths.enumerated() {
      try work.step(UInt64(index), of: UInt64(paths.count))
      var name = path
      do {
        let (item, modified) = try provider.item(path)
        name = item.label ?? ""
        // It is read here to know that it can be, and a second time when it is copied: not all secrets are in locked memory at once.
        _ = try provider.secret(of: path)
        found.append(Found(path: path, content: ServedContent(of: item), modified: modified, target: target.index))
      } catch let refusal as OtherProvider.Refusal where refusal.isLocked && !again {
        locked.append(path)
      } catch let refusal as OtherProvider.Refusal where refusal.isOfOneItem {
        let shown = refusal.problem == nil || refusal.text.isEmpty ? name : refusal.text
        plan.lost.append(.init(collection: target.collection.label, label: shown, reason: refusal.reason, words: refusal.words))
      }
    }
    return locked
  }

  private func copy(
    _ plan: inout Plan, _ targets: [Target], from provider: OtherProvider, to items: OpenItems, _ work: LongWork
  ) throws {
    var names = targets.map(\.name)
    try plan.carryOut(with: provider, work) { step in
      let target = targets[step.source.target]
      let (held, contentType) = try provider.secret(of: step.source.path)
      let name = try names[target.index] ?? items.make(target.collection.label, isDefault: target.isDefault)
      names[target.index] = name
      let losses = try name == ServedCollection.loginName ? keepKey(step.source.content, held.secret, in: items) : []
      guard let present = step.present else {
        try items.keychain.add(
          StoredItem.item(step.source.content, contentType: contentType), secret: held.secret, group: CollectionGroup.group(name),
          accessible: .afterFirstUnlock)
        return losses
      }
      try items.keychain.update(present.entry.reference, secret: held.secret) { item in
        step.source.content.write(into: &item)
        StoredItem.set(contentType, of: &item)
      }
      return losses
    }
  }

  /// gnome-keyring keeps the key of a sandboxed app in this form. It becomes that key here, unless the app has one already.
  private func keepKey(
    _ content: ServedContent, _ secret: borrowing Secret, in items: OpenItems
  ) throws -> [(reason: String, words: String)] {
    guard let app = AppKey.app(of: content.name), try !items.keychain.addAppKey(secret, of: app),
      let known = try items.keychain.knownAppKey(app), !known.isEqual(to: secret)
    else { return [] }
    return [("app-key", "the app has another key here, \(AppKey.path(of: app))")]
  }
}

extension OpenItems {
  /// The items of a collection, the newest first.
  func stored(in collection: String) throws -> [StoredItem] {
    var query = KeychainQuery(.genericPassword, group: try CollectionGroup.group(collection))
    query["service"] = StoredItem.service
    return try keychain.items(query).compactMap(StoredItem.init).sorted(by: StoredItem.isBefore)
  }

  /// - Parameter isDefault: Whether programs are to find it under the name `default`. An alias that is there already stays.
  fileprivate func make(_ label: String, isDefault: Bool) throws -> String {
    let name = try keychain.addCollection(label, besides: Set(keychain.servedCatalog().collections.map(\.name)))
    if isDefault { _ = try keychain.addAlias("default", to: name) }
    return name
  }
}
