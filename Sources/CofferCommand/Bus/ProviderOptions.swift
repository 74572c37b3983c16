import ArgumentParser
import Coffer
import CofferConsole
import Pinentry
import VaultCore

/// Options of `coffer import secret-service` and of `coffer export secret-service`.
struct ProviderOptions: ParsableArguments {
  @Option(
    name: .customLong("collection"),
    help: ArgumentHelp("Only the collection of this label. May be repeated.", valueName: "label"))
  var collections: [String] = []

  @Flag(help: "Let the other program ask in a window, to unlock or make a collection or an item.")
  var prompt = false

  @Flag(help: "Replace secrets that are there by those that come.")
  var replace = false

  @Flag(help: "Keep secrets that are there.")
  var keep = false

  @Flag(help: "Show what would be done, and change nothing.")
  var dryRun = false

  @Flag(help: "As JSON.")
  var json = false

  @OptionGroup var access: AccessOptions
  @OptionGroup var vault: VaultOptions

  /// The items, before the other program is asked.
  /// - Throws: usage; locked, if a window was allowed and there is no display.
  func open() throws -> OpenItems {
    guard !replace || !keep else { throw Failure.usage("--replace: --keep says the contrary") }
    guard !prompt || !vault.noInput else { throw Failure.usage("--prompt: --no-input says the contrary") }
    guard !prompt || Display.current.hasDisplay else {
      throw Failure(
        .locked, "--prompt: this session has no display, so that no window can be shown", hint: "in a session of the desktop")
    }
    let items = try access.open(vault)
    guard try !items.keychain.isLocked else { throw Failure(VaultError(.locked), about: "the vault") }
    return items
  }

  /// The course of both commands.
  /// - Parameters:
  ///   - place: Where a conflict is, for its error.
  ///   - plan: Decides about each item, and returns what is needed to copy them.
  ///   - copy: Carries the plan out. Not called for a trial, or if nothing decides about conflicts.
  func transfer<Source, Target, Places>(
    conflictsIn place: (OtherProvider) -> String,
    plan: (inout TransferPlan<Source, Target>, OpenItems, OtherProvider, LongWork) throws -> Places,
    copy: (inout TransferPlan<Source, Target>, Places, OpenItems, OtherProvider, LongWork) throws -> Void
  ) throws {
    let items = try open()
    let work = try LongWork("reading")
    let provider = try OtherProvider(work)
    var decided = TransferPlan<Source, Target>()
    do {
      let places = try plan(&decided, items, provider, work)
      if replace || keep { decided.settle(replace ? .replaced : .kept) }
      if !dryRun {
        guard decided.conflicts.isEmpty else { throw decided.conflict(place(provider)) }
        try work.begin("copying")
        try copy(&decided, places, items, provider, work)
      }
    } catch let refusal as OtherProvider.Refusal {
      throw provider.failure(refusal)
    }
    work.end()
    items.finish()
    try decided.report(provider.program, isTrial: dryRun, asJSON: json)
  }

  /// Those to work with, unlocked.
  /// - Throws: not found; locked.
  func chosen(of provider: OtherProvider) throws -> [OtherProvider.Collection] {
    let all = try provider.collections()
    for label in collections where !all.contains(where: { $0.label == label }) {
      throw Failure(
        .notFound, "\(label): \(provider.program) has no such collection", hint: "name one of these",
        details: all.map { "collection \($0.label)" })
    }
    let chosen = all.filter { collections.isEmpty || collections.contains($0.label) }
    try unlock(chosen.filter(\.isLocked), of: provider)
    return chosen
  }

  /// Items that the program has locked one by one, as KeePassXC does until a person allows them.
  func unlock(itemsAt paths: [String], of label: String, _ provider: OtherProvider) throws {
    guard !paths.isEmpty else { return }
    guard prompt else {
      throw Failure(
        .locked,
        "\(label.isEmpty ? "" : "\(label): ")\(provider.program) has \(counted(paths.count, "item")) of this collection locked",
        hint: "--prompt lets it ask in a window; --collection LABEL leaves others out")
    }
    try provider.unlock(paths)
  }

  func unlock(_ locked: [OtherProvider.Collection], of provider: OtherProvider) throws {
    guard let first = locked.first else { return }
    guard prompt else {
      throw Failure(
        .locked, "\(first.label): \(provider.program) has this collection locked",
        hint: "--prompt lets it ask in a window; --collection LABEL leaves others out",
        details: locked.map { "collection \($0.label)" })
    }
    try provider.unlock(locked.map(\.path))
    if let still = try provider.collections().first(where: { now in now.isLocked && locked.contains { $0.path == now.path } }) {
      throw Failure(.locked, "\(still.label): \(provider.program) has this collection locked")
    }
  }
}
