import CofferLifecycle
import SecretMemory
import Testing
import VaultCore
import VaultUpkeep

@Suite struct PassphraseCostTests {
  /// A slot that costs more than the ceiling could not be opened again on this machine. Its own cost is no reason to refuse.
  @Test func theLimitsDoNotRaiseACostAboveTheCeiling() throws {
    let ceiling = KDFCeiling(iterations: 4, memoryKiB: 100 << 10)
    let dear = try KDFParameters(iterations: 5, memoryKiB: 200 << 10)
    var limits = Limits()
    #expect(try limits.cost(nil, ceiling: ceiling) == .standard)
    #expect(try limits.cost(dear, ceiling: ceiling) == dear)
    try limits.set(.kdfPasses, to: 4)
    #expect(try limits.cost(.lowMemory, ceiling: ceiling) == KDFParameters(iterations: 4, memoryKiB: 64 << 10))
    let set = limits
    #expect(throws: VaultError(.kdfAboveCeiling)) { try set.cost(nil, ceiling: ceiling) }
    try limits.set(.kdfPasses, to: 5)
    let higher = limits
    #expect(throws: VaultError(.kdfAboveCeiling)) { try higher.cost(.lowMemory, ceiling: ceiling) }
    #expect(try higher.cost(dear, ceiling: ceiling) == dear)
  }
}
