public import SecretMemory

/// The cost of trying one passphrase: Argon2id, one lane. Section 5.1 of FORMAT.md.
public struct KDFParameters: Equatable, Sendable {
  /// Compiled in. No slot below it is made or tried.
  public static let floor = KDFParameters(uncheckedIterations: 3, memoryKiB: 64 << 10)
  /// 3 passes over 256 MiB.
  public static let standard = KDFParameters(uncheckedIterations: 3, memoryKiB: 256 << 10)
  /// For machines that cannot spare 256 MiB: the floor.
  public static let lowMemory = floor

  /// Passes over the memory (`t`).
  public let iterations: UInt32
  /// In KiB (`m`).
  public let memoryKiB: UInt32

  /// - Throws: `kdfBelowFloor`.
  public init(iterations: UInt32, memoryKiB: UInt32) throws(VaultError) {
    guard iterations >= Self.floor.iterations && memoryKiB >= Self.floor.memoryKiB else {
      throw VaultError(.kdfBelowFloor, "\(iterations) passes over \(memoryKiB) KiB")
    }
    self.init(uncheckedIterations: iterations, memoryKiB: memoryKiB)
  }

  private init(uncheckedIterations: UInt32, memoryKiB: UInt32) {
    iterations = uncheckedIterations
    self.memoryKiB = memoryKiB
  }
}

/// The most that a vault file may make its reader spend: a writer of the file chooses its parameters.
public struct KDFCeiling: Sendable {
  /// 64 passes over 4 GiB.
  public static let standard = KDFCeiling(iterations: 64, memoryKiB: 4 << 20)

  /// The number of passes at most.
  public var iterations: UInt32
  /// In KiB. A program should not allow more than half of the machine's memory.
  public var memoryKiB: UInt32

  /// The passes and the memory that a derivation may take at most.
  public init(iterations: UInt32, memoryKiB: UInt32) {
    self.iterations = iterations
    self.memoryKiB = memoryKiB
  }

  /// - Throws: `kdfAboveCeiling`.
  package func check(_ parameters: KDFParameters) throws(VaultError) {
    guard parameters.iterations <= iterations && parameters.memoryKiB <= memoryKiB else {
      throw VaultError(.kdfAboveCeiling, "\(parameters.iterations) passes over \(parameters.memoryKiB) KiB")
    }
  }
}
