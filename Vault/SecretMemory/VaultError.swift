/// Why the core refused. One code for each cause; the detail names what, and never holds a secret.
public struct VaultError: Error, Equatable, Sendable {
  /// The cause of an error.
  public struct Code: Hashable, Sendable {
    /// The name of the cause, which never changes.
    public let name: String
    package init(_ name: String) { self.name = name }
  }

  /// The cause.
  public let code: Code
  /// For people: what it concerns. Not compared.
  public let detail: String

  /// An error with a cause, and details for people.
  public init(_ code: Code, _ detail: String = "") {
    self.code = code
    self.detail = detail
  }

  public static func == (left: VaultError, right: VaultError) -> Bool { left.code == right.code }
  /// Allows `catch VaultError.Code.notFound`.
  public static func ~= (code: Code, error: VaultError) -> Bool { code == error.code }
}

extension VaultError: CustomStringConvertible {
  public var description: String { detail.isEmpty ? code.name : "\(code.name): \(detail)" }
}

extension VaultError.Code {
  /// Matches an error in `catch VaultError.Code.x`.
  public static func ~= (code: Self, error: any Error) -> Bool { (error as? VaultError)?.code == code }
}

extension VaultError.Code {
  /// Locked memory could not be had (`RLIMIT_MEMLOCK`), and the policy requires it.
  public static let memoryNotLockable = Self("memoryNotLockable")
  /// Memory could not be allocated.
  public static let outOfMemory = Self("outOfMemory")
  /// libsodium did not start: no source of random bytes.
  public static let randomNotAvailable = Self("randomNotAvailable")
  /// The secret is larger than 1 MiB.
  public static let secretTooLarge = Self("secretTooLarge")
}
