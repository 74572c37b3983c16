import ArgumentParser
import Coffer
import CofferConsole
import ProgramSecrets
import SecretMemory
import VaultCore

struct ExportCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "export", abstract: "Copy items from the vault to another program.", subcommands: [ExportSecretService.self])

  func run() throws {
    throw Failure.usage("export: a destination is missing", hint: "coffer export --help; to a file: coffer secret export")
  }
}

struct ExportSecretService: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "secret-service", abstract: "Copy the items of the Secret Service to another program, such as gnome-keyring.",
    discussion: """
      The way back from coffer import secret-service, by the same rules. Each item is read again from the other program, and what it has \
      not kept is listed. Former versions stay in the vault.
      """)

  @OptionGroup var options: ProviderOptions

  func run() throws {
    try options.transfer { provider in
      "in \(provider.program)"
    } plan: { (plan: inout Plan, items, provider, work) in
      let sources = try sources(items, &plan)
      let places = try places(for: sources, provider)
      for source in sources { try add(source, places[source.label] ?? nil, from: items, provider, work, to: &plan) }
      return places
    } copy: { plan, places, items, provider, work in
      try copy(&plan, places, from: items, to: provider, work)
    }
  }

  private struct Present {
    let path: String
    let content: ServedContent
    let modified: UInt64
  }

  /// An item of the vault as it is exported.
  private struct Kept {
    let reference: Reference
    let id: String
    let content: ServedContent
    let contentType: String
    var label: String { content.label ?? "" }
    /// gnome-keyring finds the key of an app whatever its type is, and keeps no types.
    var hasType = true
  }

  private typealias Plan = TransferPlan<Kept, Present>

  private struct Source {
    let label: String
    let name: String
    /// The oldest first.
    let items: [Kept]
  }

  private func sources(_ items: OpenItems, _ plan: inout Plan) throws -> [Source] {
    let all = try items.keychain.servedCatalog().collections.filter { $0.name != ServedCollection.sessionName }
    for label in options.collections where !all.contains(where: { $0.label == label }) {
      throw Failure(
        .notFound, "\(label): no such collection", hint: "name one of these", details: all.map { "collection \($0.label)" })
    }
    return try all.filter { options.collections.isEmpty || options.collections.contains($0.label) }.map { collection in
      Source(
        label: collection.label, name: collection.name, items: try kept(in: collection, items, &plan))
    }.filter { !$0.items.isEmpty }
  }

  /// The keys of apps are items of `login` there.
  private func kept(in collection: ServedCollection, _ items: OpenItems, _ plan: inout Plan) throws -> [Kept] {
    let stored = try items.stored(in: collection.name).reversed().map { stored in
      Kept(
        reference: stored.entry.reference, id: stored.id,
        content: ServedContent(label: stored.label, attributes: stored.attributes),
        contentType: stored.contentType)
    }
    guard collection.name == ServedCollection.loginName else { return stored }
    let keys = try items.keychain.appKeys().map { app, entry in
      Kept(
        reference: entry.reference, id: app,
        content: ServedContent(label: entry.item.label, attributes: AppKey.attributes(of: app)),
        contentType: AppKey.contentType, hasType: false)
    }
    var others: [Kept] = []
    for item in stored {
      guard let key = keys.first(where: { $0.content.name == item.content.name }) else {
        others.append(item)
        continue
      }
      // gnome-keyring takes any of both, and the app has encrypted its file with the key.
      guard try !secret(of: item, items, "to compare it").isEqual(to: secret(of: key, items, "to compare it")) else { continue }
      plan.lost.append(
        .init(
          collection: collection.label, label: item.label, reason: "app-key",
          words: "the app has another key here, \(AppKey.path(of: key.id))"))
    }
    return others + keys
  }

  private func secret(of item: Kept, _ items: OpenItems, _ purpose: String) throws -> Secret {
    try items.keychain.secret(of: item.reference, purpose: purpose)
  }

  /// The collections of the other program by their labels here. nil: it has to make one.
  private func places(for sources: [Source], _ provider: OtherProvider) throws -> [String: OtherProvider.Collection?] {
    let all = try provider.collections()
    let login = try provider.collection(at: "login")
    let usual = try login.isEmpty ? provider.collection(at: "default") : login
    var places: [String: OtherProvider.Collection?] = [:]
    for source in sources {
      let isLogin = source.name == ServedCollection.loginName
      places[source.label] = .some(all.first { isLogin && !usual.isEmpty ? $0.path == usual : $0.label == source.label })
    }
    try options.unlock(places.values.compactMap { $0 }.filter(\.isLocked).sorted { $0.label < $1.label }, of: provider)
    return places
  }

  private func add(
    _ source: Source, _ place: OtherProvider.Collection?, from items: OpenItems, _ provider: OtherProvider, _ work: LongWork,
    to plan: inout Plan
  ) throws {
    var present: [Present] = []
    let paths = try place.map { try provider.items(of: $0) } ?? []
    for (index, path) in paths.enumerated() {
      try work.step(UInt64(index), of: UInt64(paths.count))
      do {
        let (content, modified) = try provider.item(path)
        present.append(Present(path: path, content: ServedContent(of: content), modified: modified))
      } catch let refusal as OtherProvider.Refusal where refusal.isOfOneItem {
        // No item of the vault can have its attributes.
      }
    }
    present.sort { $0.modified > $1.modified }
    let groups = Dictionary(grouping: source.items, by: \.content.name).sorted { $0.value[0].id < $1.value[0].id }
    let known = groups.map { name, same in
      (
        same,
        present.filter {
          $0.content.name == name
        } orElse: {
          $0.content.isKept(of: name)
        }
      )
    }
    try options.unlock(
      itemsAt: known.flatMap(\.1).map(\.path).filter { try isLocked($0, provider) }, of: source.label, provider)
    for (same, present) in known {
      try plan.add(same.map { ($0, $0.label) }, collection: source.label, present: present) { kept, present in
        try provider.secret(of: present.path).held.secret.isEqual(to: secret(of: kept, items, "to compare it"))
      }
    }
  }

  private func isLocked(_ path: String, _ provider: OtherProvider) throws -> Bool {
    do {
      _ = try provider.secret(of: path)
      return false
    } catch let refusal as OtherProvider.Refusal where refusal.isLocked {
      return true
    }
  }

  private func copy(
    _ plan: inout Plan, _ places: [String: OtherProvider.Collection?], from items: OpenItems, to provider: OtherProvider,
    _ work: LongWork
  ) throws {
    var places = places
    // First, so that a refusal changes nothing.
    let labels = Set(plan.steps.filter { $0.outcome == .added }.map(\.collection))
    for label in labels.sorted() where (places[label] ?? nil) == nil {
      places[label] = try provider.make(label, isAsking: options.prompt)
    }
    try plan.carryOut(with: provider, work) { step in
      let kept = step.source
      let secret = HeldSecret(try secret(of: kept, items, "to export it"))
      var item = Item(.genericPassword)
      kept.content.write(into: &item)
      let path: String
      if let present = step.present {
        path = present.path
        try provider.replace(path, secret, contentType: kept.contentType)
      } else {
        guard let place = places[step.collection] ?? nil else { return [("refused", "has no collection there")] }
        path = try provider.add(item, secret, contentType: kept.contentType, to: place, isAsking: options.prompt)
      }
      return try losses(kept, secret, provider, path)
    }
  }

  /// The differences between an item and the one that the other program has kept.
  private func losses(_ kept: Kept, _ secret: HeldSecret, _ provider: OtherProvider, _ path: String) throws
    -> [(reason: String, words: String)]
  {
    let (content, _) = try provider.item(path)
    let (held, contentType) = try provider.secret(of: path)
    var losses: [(reason: String, words: String)] = []
    if !held.secret.isEqual(to: secret.secret) { losses.append(("secret", "the secret is another one there")) }
    if content.label ?? "" != kept.label { losses.append(("label", "the label is another one there")) }
    if !ServedContent(of: content).isKept(of: kept.content.name) {
      losses.append(("attributes", "the attributes are others there"))
    }
    if kept.hasType, contentType != kept.contentType {
      losses.append(("content-type", "the type of the content, \(kept.contentType), is \(contentType) there"))
    }
    return losses
  }
}
