import VaultCore

/// Items of one generation of the vault that do not want the owner to be asked, as a look at each has shown. For one thread.
struct ConfirmationExemptions {
  private static let maximumCount = 4096

  private var generation: UInt64 = 0
  private var references: Set<Reference> = []

  func holds(_ reference: Reference, at generation: UInt64) -> Bool {
    generation == self.generation && references.contains(reference)
  }

  mutating func insert(_ reference: Reference, at generation: UInt64) {
    if generation != self.generation || references.count >= Self.maximumCount { references = [] }
    self.generation = generation
    references.insert(reference)
  }
}
