internal import CofferPropertyLists
internal import LeakDetection

extension PropertyListValue {
  /// The value at the end of the steps.
  func value(at steps: ArraySlice<Finding.Step>) -> PropertyListValue? {
    guard let step = steps.first else { return self }
    switch (self, step) {
    case (.array(let elements), .element(let index)) where elements.indices.contains(index):
      return elements[index].value(at: steps.dropFirst())
    case (.dictionary(let members), .member(let name)): return members[name]?.value(at: steps.dropFirst())
    default: return nil
    }
  }

  /// A copy with another value at the end of the steps. Returns nil if the steps lead nowhere.
  func replacing(at steps: ArraySlice<Finding.Step>, with new: PropertyListValue) -> PropertyListValue? {
    guard let step = steps.first else { return new }
    switch (self, step) {
    case (.array(var elements), .element(let index)) where elements.indices.contains(index):
      guard let element = elements[index].replacing(at: steps.dropFirst(), with: new) else { return nil }
      elements[index] = element
      return .array(elements)
    case (.dictionary(var members), .member(let name)):
      guard let member = members[name]?.replacing(at: steps.dropFirst(), with: new) else { return nil }
      members[name] = member
      return .dictionary(members)
    default: return nil
    }
  }

  /// Whether it holds a reference to the vault anywhere.
  var holdsVaultReference: Bool {
    switch self {
    case .string(let text): text.hasPrefix("coffer://")
    case .array(let elements): elements.contains(where: \.holdsVaultReference)
    case .dictionary(let members): members.sorted.contains { $0.value.holdsVaultReference }
    default: false
    }
  }
}
