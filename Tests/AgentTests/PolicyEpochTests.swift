import Testing

@testable import CofferAgent

@Suite struct PolicyEpochTests {
  @Test func aGenerationIsOneState() {
    var rules = PolicyEpoch()
    let first = rules.count(at: 5)
    #expect(rules.count(at: 5) == first)
    #expect(rules.count(at: 6) != first)
  }

  @Test func itemsOfOnesOwnLeaveTheRulesAsTheyAre() {
    var rules = PolicyEpoch()
    let first = rules.count(at: 5)
    rules.itemsChanged(from: 5, to: 6)
    #expect(rules.count(at: 6) == first)
  }

  /// Between the look and the change somebody else may have taken back a grant.
  @Test func changesByOthersInBetweenAreSeen() {
    var rules = PolicyEpoch()
    let first = rules.count(at: 5)
    rules.itemsChanged(from: 5, to: 7)
    #expect(rules.count(at: 7) != first)
  }

  @Test func anUnseenGenerationIsAnotherEpoch() {
    var rules = PolicyEpoch()
    let first = rules.count(at: 5)
    rules.itemsChanged(from: 6, to: 7)
    #expect(rules.count(at: 7) != first)
  }

  /// The same number may be another state.
  @Test func anotherVaultHasOtherRules() {
    var rules = PolicyEpoch()
    let first = rules.count(at: 5)
    rules.restart()
    #expect(rules.count(at: 5) != first)
  }
}
