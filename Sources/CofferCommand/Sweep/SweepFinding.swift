import CofferConsole
import ForeignFormats
import LeakDetection
import ProgramSecrets
import SecretMemory
import VaultCore

/// A secret in a file, without its value.
struct SweepFinding {
  /// The way to the vault that a move leaves in the file.
  enum Way: Hashable {
    /// A reference in the place of the value, which `coffer run` replaces.
    case reference
    /// Nothing: git asks the vault.
    case gitHelper
    /// An empty entry, and a setting that names `docker-credential-coffer`.
    case dockerHelper
    /// A setting of AWS that names `coffer credential aws`.
    case credentialProcess
    /// An entry of kubectl that names `coffer credential kubectl`.
    case kubectlExec
    /// Nothing: a setting in another file names `cargo-credential-coffer`.
    case cargoProvider
    /// Nothing, not even the file: `coffer-ssh-agent` has the key.
    case sshAgent
    /// The program cannot get it from the vault; the text says what helps.
    case none(String)
  }

  /// From 1.
  let line: Int
  /// The name of the leak detector's rule, or `credential` for a value that the format of the file marks.
  let rule: String
  /// The name of the variable, the host or the section; never a part of a value.
  let name: String
  let way: Way
  /// The item that it becomes. nil if it cannot be moved, and for a key for ssh.
  let item: ForeignItem?

  /// The same finding, which no move takes.
  func staying(_ reason: String) -> SweepFinding {
    SweepFinding(line: line, rule: rule, name: name, way: .none(reason), item: nil)
  }

  var isMovable: Bool { if case .none = way { false } else { true } }

  /// For people.
  var leaves: String {
    switch way {
    case .reference: "a reference, for coffer run"
    case .gitHelper: "nothing: git asks coffer"
    case .dockerHelper: "credHelpers: docker asks coffer"
    case .credentialProcess: "credential_process"
    case .kubectlExec: "exec: kubectl asks coffer"
    case .cargoProvider: "nothing: cargo asks coffer"
    case .sshAgent: "no file: coffer-ssh-agent has the key"
    case .none(let words): words
    }
  }
}

extension SweepFinding {
  /// A credential that the format of the file marks.
  /// - Parameter obstacle: Why its program would not get it from the vault.
  init(_ found: ForeignItem, as way: Way, unless obstacle: String? = nil) {
    let (service, account) = ItemName.parts(of: found.item)
    let isListed = !PlainTextOptions.looksLikeSecret(account)
    var way = way
    if case .none = way {
    } else if let reason = obstacle ?? (isListed ? nil : "the user looks like a secret, and names are listed") {
      way = .none(reason)
    }
    let isMovable = if case .none = way { false } else { true }
    self.init(
      line: found.line, rule: found.secret.leakRule(named: "password") ?? "credential",
      name: isListed ? "\(service) \(account)" : service, way: way, item: isMovable ? found : nil)
  }
}

extension HeldSecret {
  /// The rule of the leak detector that a value under a name matches.
  func leakRule(named name: String) -> String? {
    secret.withBytes { bytes in
      unsafe bytes.withUnsafeBytes { buffer in
        unsafe LeakDetector.rule(of: Span(_unsafeElements: buffer.bindMemory(to: UInt8.self)), named: name)
      }
    }
  }
}
