import ForeignFormats
import VaultCore

/// kubectl asks `coffer credential kubectl` about the users that a sweep has moved.
enum KubeFindings {
  static let program = "coffer"

  static func findings(of text: SourceText) throws -> [SweepFinding] {
    try KubeFormat.users(of: text).map { user in
      SweepFinding(user.item, as: .kubectlExec, unless: user.obstacle?.words ?? obstacle(for: user.item))
    }
  }

  private static func obstacle(for found: ForeignItem) -> String? {
    if !CalledName.isInstalled(program) { return "\(program) is not in PATH" }
    if (try? ItemName.check(found.item["account"] ?? "", "name")) == nil { return "the vault takes no such name" }
    return found.item.attributes.contains { $0.value.text.utf8.count > Attributes.maximumValueByteCount }
      ? "the certificate is longer than an attribute may be" : nil
  }
}

extension KubeFormat.Obstacle {
  fileprivate var words: String {
    switch self {
    case .password: "kubectl asks no program for passwords; ask for a token"
    case .severalWays: "the user has another way to log in as well"
    case .certificateMissing: "the certificate of the key is not in the file: kubectl config set-credentials --embed-certs"
    case .form: "not on one line, or not in base64"
    case .name: "the name is used twice, or begins with -"
    }
  }
}
