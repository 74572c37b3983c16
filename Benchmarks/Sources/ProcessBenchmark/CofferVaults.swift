import BenchmarkKit
import CofferStorage
import Glibc
import Passphrases
import SecretMemory
import VaultCore

/// `coffer` with vaults for the benchmark only.
struct CofferVaults {
  private static let passphrase = "correct horse battery staple"
  private let program: String
  private let directory: String
  private let keyFile: String

  init(_ program: String, in directory: String) throws {
    self.program = program
    self.directory = directory
    keyFile = "\(directory)/key"
    try write(String(decoding: SampleVault.keyFileBytes, as: UTF8.self), to: keyFile)
  }

  func contender(itemCount: Int) throws -> Contender {
    let sample = try SampleVault(itemCount: itemCount, in: directory)
    let read = try copy(of: sample, to: "\(directory)/get-\(itemCount).coffer")
    let written = try copy(of: sample, to: "\(directory)/put-\(itemCount).coffer")
    return Contender(
      name: "coffer, key file",
      get: { command("get", read, SampleVault.name($0 % itemCount)) },
      put: { command("set", written, ("new-service", "user-\($0)"), input: "ten bytes.") })
  }

  /// The same through an agent with an open vault. `stopAgents` ends it.
  func agentContender(itemCount: Int) throws -> Contender {
    let sample = try SampleVault(itemCount: itemCount, in: directory)
    let read = try copy(of: sample, to: "\(directory)/agent-get-\(itemCount).coffer")
    let written = try copy(of: sample, to: "\(directory)/agent-put-\(itemCount).coffer")
    for path in [read, written] {
      try Command(
        [program, "vault", "unlock", "--vault", path, "--key-file", keyFile, "--no-input"], environment: environment(path)
      )
      .run()
    }
    return Contender(
      name: "coffer, unlocked agent",
      get: { command("get", read, SampleVault.name($0 % itemCount), credential: []) },
      put: { command("set", written, ("new-service", "user-\($0)"), input: "ten bytes.", credential: []) })
  }

  /// Commands that read or write each record, with a vault of their own.
  func walks(itemCount: Int) throws -> Walks {
    let path = try copy(of: try SampleVault(itemCount: itemCount, in: directory), to: "\(directory)/walks-\(itemCount).coffer")
    let backup = "\(path).copy"
    func command(_ verb: String, _ options: [String]) -> Command {
      var command = Command(
        [program, "vault", verb, "--vault", path, "--no-input"] + options, environment: environment(path))
      command.isQuiet = true
      return command
    }
    // A rotation makes a backup, as any does. That of the one before goes, so that the disk does not fill up.
    let rotate = ["--key-file", keyFile, "--force", "--prune-backups", "--keep-backup"]
    return Walks(
      itemCount: itemCount, verify: command("verify", ["--key-file", keyFile]),
      [
        (command("backup", [backup]), "vault backup", { unlink(backup) }),
        (command("rotate", rotate + ["--master-only"]), "vault rotate --master-only", {}),
        (command("rotate", rotate + ["--group", "default"]), "vault rotate --group default", {}),
        (command("rotate", rotate), "vault rotate", {}),
      ])
  }

  func stopAgents(_ sizes: [Int]) throws {
    for size in sizes {
      for use in ["get", "put"] {
        let path = "\(directory)/agent-\(use)-\(size).coffer"
        try Command([program, "agent", "stop", "--vault", path], environment: environment(path)).run()
      }
    }
  }

  private func command(
    _ verb: String, _ path: String, _ name: (service: String, account: String), input: String? = nil, credential: [String]? = nil
  ) -> Command {
    let credential = credential ?? ["--key-file", keyFile]
    return Command(
      [program, "secret", verb, "\(name.service)/\(name.account)", "--vault", path, "--no-input"] + credential,
      input: input, environment: environment(path))
  }

  /// A vault of ten items with a passphrase and the standard key derivation.
  func passphraseGet() throws -> (Int) -> Command {
    let path = "\(directory)/passphrase.coffer"
    if access(path, F_OK) != 0 {
      var vault = try Vault.create(in: try FileStore.create(at: path), with: try Self.credential(), at: SampleVault.time)
      try vault.transaction { transaction in
        for index in 0..<10 {
          try transaction.add(SampleVault.item(index), secret: try SampleVault.secret(index), at: SampleVault.time)
        }
      }
    }
    return { index in
      let name = SampleVault.name(index % 10)
      return Command(
        [
          program, "secret", "get", "\(name.service)/\(name.account)", "--vault", path, "--passphrase-fd", "0", "--no-input",
        ], input: Self.passphrase, environment: environment(path))
    }
  }

  /// A program with a secret in its environment, whose output is searched for it or not.
  func run(_ program: [String] = ["true"], isMasked: Bool) throws -> (Int) -> Command {
    let sample = try SampleVault(itemCount: 10, in: directory)
    let path = try copy(of: sample, to: "\(directory)/run-\(program[0])-\(isMasked).coffer")
    return { index in
      let name = SampleVault.name(index % 10)
      return Command(
        [
          self.program, "run", "--set", "SECRET=coffer://default/\(name.service)/\(name.account)", "--vault", path, "--key-file",
          keyFile, "--no-input",
        ] + (isMasked ? [] : ["--no-masking"]) + ["--"] + program, environment: environment(path))
    }
  }

  /// The command that git starts for a password, with the host and the user of an item.
  func gitGet() throws -> (Int) -> Command {
    let path = try copy(of: try SampleVault(itemCount: 10, in: directory), to: "\(directory)/git.coffer")
    return { index in
      let name = SampleVault.name(index % 10)
      return Command(
        [program, "credential", "git", "get", "--vault", path, "--key-file", keyFile],
        input: "protocol=https\nhost=\(name.service)\nusername=\(name.account)\n\n", environment: environment(path))
    }
  }

  /// A home for each file, because an anchor belongs to a vault's identity, which the copies of one vault share. The home is made anew
  /// with the copy: by the anchor of an earlier run, a fresh copy would be reported as rolled back.
  private func copy(of sample: SampleVault, to path: String) throws -> String {
    try Command(["/bin/rm", "-rf", "\(path).home"]).run()
    return try sample.copy(to: path).path
  }

  private func environment(_ path: String) -> [String] {
    Command.inherited + ["COFFER_HOME=\(path).home"]
  }

  private static func credential() throws -> Credential {
    try .passphrase(Secret(copying: Array(passphrase.utf8).span.bytes))
  }
}

func write(_ text: String, to path: String) throws {
  guard let file = fopen(path, "w") else { throw BenchmarkError("\(path): cannot be written") }
  fputs(text, file)
  fclose(file)
  chmod(path, 0o600)
}
