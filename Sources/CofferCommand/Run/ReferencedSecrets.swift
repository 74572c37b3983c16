import Coffer
import CofferConsole
import CofferFiles
import CofferRequests
import ProgramSecrets
import SecretMemory
import VaultCore

/// The values of the references that a command was given. Each is looked up once.
struct ReferencedSecrets {
  struct Wanted {
    /// For messages: the variable, the option, or the line of a file. To find a line takes as long as the file is, so only that of a
    /// message is looked for.
    private let place: () -> String
    let reference: String

    var subject: String { "\(place()) (\(reference))" }

    init(place: @autoclosure @escaping () -> String, reference: String) { (self.place, self.reference) = (place, reference) }
  }

  struct Value {
    let held: HeldSecret
    let isAttribute: Bool
  }

  private var values: [ItemName: Value] = [:]
  private var names: [String: ItemName] = [:]

  /// Opens no vault if nothing is wanted.
  /// - Parameter purpose: The text for the owner and the log.
  /// - Throws: the failure of the first one that has no value, with its place.
  init(_ wanted: [Wanted], for purpose: String, _ access: AccessOptions, _ vault: VaultOptions) throws {
    for one in wanted { names[one.reference] = try one.itemName() }
    guard !wanted.isEmpty else { return }
    let items = try access.open(vault)
    Hardening.hide()
    for one in wanted {
      guard let name = names[one.reference], values[name] == nil else { continue }
      do {
        values[name] = try items.value(of: name, purpose: purpose)
      } catch {
        throw one.failure(error, of: name)
      }
    }
    items.finish()
  }

  /// The value of a reference that was wanted.
  subscript(reference: String) -> HeldSecret {
    get throws {
      guard let value = names[reference].flatMap({ values[$0] }) else {
        throw Failure(.other, "\(reference): was not looked up")
      }
      return value.held
    }
  }

  /// Whether a reference means an attribute, which lists show and output may.
  func isAttribute(_ reference: String) -> Bool {
    names[reference].flatMap { values[$0] }?.isAttribute ?? false
  }
}

extension ReferencedSecrets.Wanted {
  fileprivate func itemName() throws(Failure) -> ItemName {
    do throws(Failure) {
      guard reference.utf8.starts(with: SecretText.scheme) else {
        throw Failure.usage("is not a reference", hint: "coffer://GROUP/SERVICE/ACCOUNT")
      }
      return try ItemName(parsing: reference)
    } catch {
      throw Failure(error.status, "\(subject): \(error.message)", hint: error.hint)
    }
  }

  /// The item is named once, as it was written.
  fileprivate func failure(_ error: any Error, of name: ItemName) -> Failure {
    let failure = Failure(error)
    var item = name
    item.field = nil
    let prefix = "\(item): "
    let reason = failure.message.hasPrefix(prefix) ? String(failure.message.dropFirst(prefix.count)) : failure.message
    return Failure(failure.status, "\(subject): \(reason)", hint: failure.hint, details: failure.details)
  }
}

extension OpenItems {
  /// The value that a name means: the secret of an item, one of its attributes, or the secret of its companion for the field.
  func value(of name: ItemName, purpose: String) throws -> ReferencedSecrets.Value {
    var item = name
    item.field = nil
    let entry = try entry(named: item)
    guard let field = name.field, field != "secret" else { return try secret(of: entry, purpose: purpose) }
    if let value = entry.attribute(field) {
      return .init(held: HeldSecret(try Secret(copying: Array(value.text.utf8))), isAttribute: true)
    }
    return try secret(of: companion(field, of: item, entry), purpose: purpose)
  }

  /// The companion of an item for a field.
  /// - Parameter name: The name of the item, as it was given.
  /// - Throws: `notFound`, for an item that has neither a companion nor an attribute of this name.
  func companion(_ field: String, of name: ItemName, _ entry: Entry) throws -> Entry {
    guard let found = try companionIfThere(field, of: name, entry) else {
      throw Failure(
        .notFound, "\(entry.name): has no attribute \(field)", hint: "coffer secret find --json SERVICE shows them")
    }
    return found
  }

  /// As `companion`. Returns nil if there is none.
  func companionIfThere(_ field: String, of name: ItemName, _ entry: Entry) throws -> Entry? {
    let (service, account) = ItemName.parts(of: entry.item)
    let companion = try ItemName(group: name.group, service: service + Companions.mark + field, account: account)
    return try Selection(companion, entry.item.itemClass).exact(in: self)
  }

  private func secret(of entry: Entry, purpose: String) throws -> ReferencedSecrets.Value {
    .init(held: HeldSecret(try keychain.secret(of: entry.reference, purpose: purpose)), isAttribute: false)
  }

  /// The item of this name, of any class: a reference does not name one. Generic passwords come first.
  private func entry(named name: ItemName) throws -> Entry {
    for itemClass in ItemClass.allCases {
      // A class may have no room for an account.
      guard let selection = try? Selection(name, itemClass) else { continue }
      do {
        if let entry = try selection.exact(in: self) { return entry }
      } catch let error as SelectedIsUnreadable {
        throw error.reason
      }
    }
    return try Selection(name, .genericPassword).only(in: self)
  }
}

extension Entry {
  func attribute(_ name: String) -> AttributeValue? { item.attributes[name] ?? item.attributes[Item.userPrefix + name] }
}
