internal import CofferPropertyLists
internal import LeakDetection
import VaultCore

/// A value that goes from a domain to the vault.
struct MoveCandidate {
  let domain: any EditableDomain
  let place: Finding
  let value: PropertyListValue
  let name: ItemName
  let group: AccessGroup

  /// - Throws: `DefaultsFailure`, for values that are no secrets to the vault.
  init(_ domain: any EditableDomain, _ place: Finding, _ value: PropertyListValue, _ group: AccessGroup) throws {
    self.domain = domain
    self.place = place
    self.value = value
    self.group = group
    do {
      name = try LeakAdvice.name(domain.service, place.path)
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

  /// What takes the place of the value. A text, whatever the type of the value was.
  var reference: String {
    "coffer://" + [group.name, name.service, name.account ?? ""].map(PercentEncoding.encode).joined(separator: "/")
  }

  /// As `defaults read-type` has it; nil for what is no secret.
  var typeName: String? {
    switch value {
    case .string: "string"
    case .data: "data"
    case .integer, .unsigned: "integer"
    default: nil
    }
  }

  /// The bytes of a text or of data, the decimal digits of a number.
  func secret() throws -> Secret {
    switch value {
    case .string(let text): try unsafe Secret(copying: text.utf8.span.bytes)
    case .data(let bytes): try unsafe Secret(copying: bytes.span.bytes)
    case .integer(let number): try unsafe Secret(copying: String(number).utf8.span.bytes)
    case .unsigned(let number): try unsafe Secret(copying: String(number).utf8.span.bytes)
    default: throw DefaultsFailure.failed("\(place.path): is no text, data or number")
    }
  }

  /// With a word of what it was, for whoever wants it back.
  func item() throws -> Item {
    var item = try name.item(.genericPassword)
    if let typeName, typeName != "string" { item.attributes[Item.userPrefix + "preference-type"] = .text(typeName) }
    return item
  }
}
