import ArgumentParser
import CofferConsole
import SecretMemory

struct SecretSet: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "set",
    abstract: "Keep a secret.",
    discussion: "The secret is typed at the terminal, read from standard input as it is, or from --file. It is never an argument."
  )

  @OptionGroup var storing: StoreOptions

  @Option(help: ArgumentHelp("Read the secret from this file.", valueName: "path"), completion: .file())
  var file: String?

  @Flag(help: "Store an empty secret too.")
  var allowEmpty = false

  @OptionGroup var access: AccessOptions
  @OptionGroup var vault: VaultOptions

  func run() throws {
    let target = try storing.target(access, vault)
    let source = try SecretSource.choose(file: file, vault)
    var given: Secret?
    let open = try target.open(access, vault) {
      // The standard input of a pipeline ends before a person is asked for a passphrase.
      if case .stream(let stream) = source { given = try checked(Secret.reading(stream), from: stream.name) }
    }
    let secret =
      try given.take()
      ?? checked(Person.askTwice("Secret", isAllowed: !vault.noInput, isEmptyAllowed: true), from: "secret")
    try open.store(secret)
    open.finish()
    note(secret, from: source)
  }

  /// - Throws: usage, for an empty one: the program before this one in a pipeline has failed, or a person has typed Return twice.
  private func checked(_ secret: consuming Secret, from name: String) throws -> Secret {
    guard secret.count > 0 || allowEmpty else {
      throw Failure.usage("\(name): empty; nothing has been stored", hint: "--allow-empty stores an empty secret")
    }
    return secret
  }

  private func note(_ secret: borrowing Secret, from source: SecretSource) {
    if case .stream(let stream) = source, stream.number == Descriptor.input.number, secret.isLineWithEnd {
      Descriptor.error.note("note: the secret ends with a line end, which belongs to it (printf '%s' writes none)\n")
    }
    if secret.count == 0 { Descriptor.error.note("note: the secret is empty\n") }
  }
}
