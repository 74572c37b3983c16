import ArgumentParser
import CofferConsole
import GeneratedSecrets
import SecretMemory

struct SecretGenerate: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "generate", abstract: "Make a secret at random, and keep it or print it.",
    discussion: "With a name it is kept, and not shown. Without one it is printed. The bits of its strength go to standard error."
  )

  @OptionGroup var storing: StoreOptions
  @OptionGroup var recipe: RecipeOptions

  @Flag(help: "Print it also if it is kept.")
  var print = false

  @Flag(help: "Copy it to the clipboard, as coffer copy does.")
  var clip = false

  @OptionGroup var access: AccessOptions
  @OptionGroup var vault: VaultOptions

  func run() throws {
    let recipe = try recipe.recipe()
    guard !(print && clip) else { throw Failure.usage("--print: not with --clip") }
    let isKept = storing.item.name != nil || storing.item.service != nil
    guard isKept || !storing.update else { throw Failure.usage("--update: needs the name of an item") }
    let target = try isKept ? storing.target(access, vault) : nil
    let clipboard = try ClipboardOptions.parse([])
    let place = try clip ? clipboard.target() : nil
    let open = try target?.open(access, vault)
    let secret = try recipe.make()
    try open?.store(secret)
    Descriptor.error.note("\(target.map { "\($0.selection.name)".escapingControls() + ": kept, " } ?? "")\(strength(recipe))\n")
    if let place { try clipboard.copy(secret, target.map { "\($0.selection.name)" } ?? "secret", to: place, open?.items, vault) }
    if print || !isKept && !clip { try secret.write(to: .output) }
    open?.finish()
  }

  /// Rounded down: no secret is called stronger than it is.
  private func strength(_ recipe: SecretRecipe) -> String { counted(Int(recipe.bits), "bit") }
}

/// How the secret is made.
struct RecipeOptions: ParsableArguments {
  @Option(help: ArgumentHelp("The length of the text, 20 otherwise.", valueName: "n"))
  var length: Int?

  @Option(help: ArgumentHelp("So many words of a list of 7,776 instead.", valueName: "n"))
  var words: Int?

  @Option(help: ArgumentHelp("So many digits instead.", valueName: "n"))
  var pin: Int?

  @Option(parsing: .unconditional, help: ArgumentHelp("Only these symbols, of which one has to be there.", valueName: "text"))
  var symbols: String?

  @Flag(help: "Letters and digits alone.")
  var noSymbols = false

  @Flag(help: "Leave out characters that look like others: 0 O 1 l I |.")
  var avoidAmbiguous = false

  /// - Throws: usage.
  func recipe() throws(Failure) -> SecretRecipe {
    let kinds = [("--length", length), ("--words", words), ("--pin", pin)].filter { $0.1 != nil }.map(\.0)
    guard kinds.count < 2 else { throw .usage("\(kinds[1]): not with \(kinds[0])") }
    let ofText = [("--symbols", symbols != nil), ("--no-symbols", noSymbols), ("--avoid-ambiguous", avoidAmbiguous)]
    if words != nil || pin != nil, let option = ofText.first(where: \.1)?.0 {
      throw .usage("\(option): not with \(kinds[0])", hint: "it is for a text with letters, digits and symbols")
    }
    if let words { return .words(count: try checked(words, SecretRecipe.wordCounts, "--words")) }
    if let pin { return .pin(length: try checked(pin, SecretRecipe.pinLengths, "--pin")) }
    guard symbols == nil || !noSymbols else { throw .usage("--symbols: not with --no-symbols") }
    guard symbols != "" else { throw .usage("--symbols: empty", hint: "--no-symbols") }
    let length = try checked(length ?? 20, SecretRecipe.lengths, "--length")
    let symbols = noSymbols ? "" : symbols ?? SecretRecipe.standardSymbols
    guard !avoidAmbiguous || symbols.isEmpty || !symbols.allSatisfy({ $0 == "|" }) else {
      throw .usage("--symbols \(symbols): --avoid-ambiguous leaves none of them")
    }
    guard let recipe = SecretRecipe.text(length: length, symbols: symbols, avoidsAmbiguous: avoidAmbiguous) else {
      throw .usage("--symbols \(symbols): a symbol is printable ASCII, and neither letter, digit nor blank")
    }
    return recipe
  }

  private func checked(_ number: Int, _ range: ClosedRange<Int>, _ option: String) throws(Failure) -> Int {
    guard range.contains(number) else {
      throw .usage("\(option) \(number): is not between \(range.lowerBound) and \(range.upperBound)")
    }
    return number
  }
}
