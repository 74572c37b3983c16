import CofferConsole
import SecretMemory

/// Where the value of an item comes from: a file, standard input, or a person. Never an argument, which every process can read.
enum SecretSource {
  case stream(Descriptor)
  case person

  /// Opens what must be opened, and reads nothing yet.
  static func choose(file: String?, _ options: VaultOptions) throws -> SecretSource {
    if let file { return .stream(try .open(file)) }
    guard Descriptor.input.isReadable else {
      throw Failure.usage("standard input: closed, and the secret comes from there", hint: "coffer secret set NAME --file FILE")
    }
    guard !Descriptor.input.isTerminal else { return .person }
    guard !options.takesStandardInput else {
      throw Failure.usage("standard input: cannot give both passphrase and secret", hint: "--file FILE, or another descriptor")
    }
    return .stream(.input)
  }
}
