/// Why the storage refused. One code for each cause; the detail names the file and the system's reason, and never holds a secret.
public struct StorageError: Error, Equatable, Sendable {
  public struct Code: Hashable, Sendable {
    public let name: String
    init(_ name: String) { self.name = name }
  }

  public let code: Code
  /// For people: what it concerns. Not compared.
  public let detail: String

  public init(_ code: Code, _ detail: String = "") {
    self.code = code
    self.detail = detail
  }

  public static func == (left: StorageError, right: StorageError) -> Bool { left.code == right.code }
  /// So that `catch StorageError.Code.busy` can be written.
  public static func ~= (code: Code, error: StorageError) -> Bool { code == error.code }
}

extension StorageError: CustomStringConvertible {
  public var description: String { detail.isEmpty ? code.name : "\(code.name): \(detail)" }
}

extension StorageError.Code {
  public static func ~= (code: Self, error: any Error) -> Bool { (error as? StorageError)?.code == code }
}
