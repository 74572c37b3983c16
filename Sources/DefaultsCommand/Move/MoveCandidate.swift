internal import CofferConsole
package import CofferPropertyLists
internal import LeakDetection

/// A value that goes from a domain to the vault.
package struct MoveCandidate {
  let domain: any EditableDomain
  let place: Finding
  package let value: PropertyListValue
  /// The name of the item, as `LeakAdvice` gives it.
  package let service: String
  package let account: String
  /// The text that takes the place of the value, whatever the type of the value was.
  let reference: String

  /// - Throws: `DefaultsFailure`, if the value cannot be a secret of the vault.
  init(_ domain: any EditableDomain, _ place: Finding, _ value: PropertyListValue, to vault: any SecretDestination) throws {
    self.domain = domain
    self.place = place
    self.value = value
    (service, account) = (LeakAdvice.nameable(domain.service), LeakAdvice.nameable(place.path))
    do {
      reference = try vault.reference(service: service, account: account)
    } catch {
      throw DefaultsFailure.failed(
        "\(domain.title): \(place.path): \(error.message)", hint: "store it under a name of your own: coffer secret set")
    }
    guard typeName != nil else {
      throw DefaultsFailure.failed(
        "\(domain.title): \(place.path): only text, data and whole numbers can be moved",
        hint: "name one value in it: doctor --move DOMAIN KEY.MEMBER")
    }
  }

  /// The type as `defaults read-type` names it. Returns nil for a value that cannot be a secret.
  package var typeName: String? {
    switch value {
    case .string: "string"
    case .data: "data"
    case .integer, .unsigned: "integer"
    default: nil
    }
  }

  /// For messages about a conflict in the vault.
  package var conflictText: String { "\(reference), for \(place.path) of \(domain.title)" }
}
