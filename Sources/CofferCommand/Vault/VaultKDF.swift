import ArgumentParser
import CofferConsole
import CofferLifecycle
import Passphrases
import SecretMemory
import VaultCore
import VaultUpkeep

struct VaultKDF: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "kdf", abstract: "Show or change what it costs to try a passphrase.",
    discussion: """
      Without options, shows the slots that have a passphrase. With options, the slot that the passphrase opens is sealed anew, under the \
      same passphrase. --time measures this machine and chooses. To make it cheaper takes a yes at a terminal, or --force.
      """)

  @Option(help: ArgumentHelp("Memory for one try, in MiB.", valueName: "mib"))
  var memory: UInt32?

  @Option(help: ArgumentHelp("Passes over the memory.", valueName: "n"))
  var passes: UInt32?

  @Option(help: ArgumentHelp("Milliseconds that a try shall take on this machine.", valueName: "ms"))
  var time: UInt32?

  @Option(help: ArgumentHelp("The slot that the passphrase must open.", valueName: "n"))
  var slot: Int?

  @Flag(help: "Do not ask before it becomes cheaper.")
  var force = false

  @Flag(help: "As JSON.")
  var json = false

  @OptionGroup var vault: VaultOptions

  func run() throws {
    guard time != 0 else { throw Failure.usage("--time: is a number of milliseconds from 1") }
    guard time == nil || passes == nil else { throw Failure.usage("--time: chooses the passes", hint: "leave out --passes") }
    let owned = try vault.ownedVault()
    let slots = try owned.slots().filter { $0.kdf != nil }
    guard !slots.isEmpty else { throw Failure(.notFound, "kdf: no slot has a passphrase", hint: "coffer vault slot list") }
    guard memory != nil || passes != nil || time != nil else { return try show(slots) }
    // An option below the floor or above the ceiling is refused before a passphrase is asked for.
    _ = try parameters(memory ?? KDFParameters.floor.memoryKiB >> 10, passes ?? KDFParameters.floor.iterations)
    var changed: SlotDescription?
    try owned.resealSlot { opened, limits in
      let (present, new) = try chosen(for: opened)
      try agree(present, new, limits)
      changed = opened
      return new
    }
    guard let changed, let now = try owned.slots().first(where: { $0.index == changed.index }) else { return }
    try show([now])
  }

  // MARK: Choose

  private func chosen(for opened: SlotDescription) throws -> (present: KDFParameters, new: KDFParameters) {
    guard let present = opened.kdf else {
      throw Failure.usage("kdf: slot \(opened.index) has no passphrase", hint: "open the vault with the passphrase")
    }
    guard slot == nil || slot == opened.index else {
      throw Failure.usage(
        "--slot \(slot ?? 0): this passphrase opens slot \(opened.index)", hint: "coffer vault kdf shows the slots")
    }
    let mebibytes = memory ?? present.memoryKiB >> 10
    guard let time else { return (present, try parameters(mebibytes, passes ?? present.iterations)) }
    HiddenTerminal.show("Measuring…")
    defer { HiddenTerminal.clearNotice() }
    return (present, try measured(time, mebibytes))
  }

  /// - Throws: usage, below the floor and above the ceiling.
  private func parameters(_ mebibytes: UInt32, _ passes: UInt32) throws -> KDFParameters {
    let floor = KDFParameters.floor
    let ceiling = vault.ceiling
    guard mebibytes >= floor.memoryKiB >> 10, passes >= floor.iterations else {
      throw Failure.usage(
        "kdf: \(passes) passes over \(mebibytes) MiB: no vault has less than \(floor.iterations) passes over \(floor.memoryKiB >> 10) MiB"
      )
    }
    guard passes <= ceiling.iterations, mebibytes <= ceiling.memoryKiB >> 10 else {
      throw Failure.usage(
        "kdf: \(passes) passes over \(mebibytes) MiB: this machine opens no slot that takes more than \(ceiling.iterations) passes over \(ceiling.memoryKiB >> 10) MiB",
        hint: "each machine must be able to open it; if all of yours are: --allow-expensive-kdf")
    }
    return try KDFParameters(iterations: passes, memoryKiB: mebibytes << 10)
  }

  /// The passes that take the time. If three take longer, the memory becomes smaller, unless it was named.
  private func measured(_ milliseconds: UInt32, _ mebibytes: UInt32) throws -> KDFParameters {
    let floor = KDFParameters.floor
    let wanted = Double(milliseconds)
    let base = try parameters(mebibytes, floor.iterations)
    let taken = try duration(base)
    if taken <= wanted {
      let passes = min(Double(vault.ceiling.iterations), wanted / taken * Double(floor.iterations))
      return try parameters(mebibytes, UInt32(passes))
    }
    let smaller = max(floor.memoryKiB >> 10, UInt32(Double(mebibytes) * wanted / taken))
    return memory == nil ? try parameters(smaller, floor.iterations) : base
  }

  /// In milliseconds.
  private func duration(_ parameters: KDFParameters) throws -> Double {
    let credential = try Credential.passphrase(Secret(copying: Array("measured".utf8)))
    let start = ContinuousClock.now
    _ = try credential.derived(salt: nil, parameters, ceiling: vault.ceiling)
    return max(1, (ContinuousClock.now - start) / .milliseconds(1))
  }

  private func agree(_ present: KDFParameters, _ new: KDFParameters, _ limits: Limits) throws {
    let least = try limits.raised(new)
    guard !force, new.iterations < present.iterations || new.memoryKiB < present.memoryKiB || new != least else { return }
    let limit = new == least ? "" : " (the vault's policy: no less than \(least.text))"
    let change = "\(present.text) becomes \(new.text)\(limit)"
    guard vault.isAnybodyThere, Descriptor.input.isTerminal else {
      throw Failure(.locked, "kdf: \(change), which is cheaper to guess, and needs a yes at a terminal", hint: "--force")
    }
    HiddenTerminal.clearNotice()
    guard try Question.isYes("\(change), which is cheaper to guess. Go on? [y/N] ") else { throw Failure.cancelled }
  }

  // MARK: Print

  private func show(_ slots: [SlotDescription]) throws {
    guard !json else { return try Descriptor.output.write(JSON.array(slots.map(\.json)).description + "\n") }
    var table = Table(heading: ["SLOT", "TYPE", "PASSES", "MIB"])
    for slot in slots {
      guard let kdf = slot.kdf else { continue }
      table.rows.append(["\(slot.index)", slot.type.name, "\(kdf.iterations)", "\(kdf.memoryKiB >> 10)"])
    }
    try Descriptor.output.write(table.text(style: .current()))
  }
}

extension KDFParameters {
  fileprivate var text: String { "\(iterations) x \(memoryKiB >> 10) MiB" }
}
