import CofferConsole
import CofferPropertyLists
import DefaultsCommand
import SecretMemory
import VaultCore

/// The group of the vault that `defaults doctor --move` stores values in.
struct MoveDestination: SecretDestination {
  private let options: DefaultsMoveOptions
  private let group: AccessGroup

  /// - Parameter arguments: The options behind `doctor --move DOMAIN KEY`.
  /// - Throws: `DefaultsFailure`; `VaultSideFailure`.
  init(_ arguments: [String]) throws {
    let options = try DefaultsMoveOptions.read(arguments)
    self.options = options
    group = try VaultSideFailure.catching { try options.accessGroup() }
  }

  var isJSON: Bool { options.json }

  func reference(service: String, account: String) throws(Failure) -> String {
    let name = try ItemName(service: service, account: account)
    return "coffer://" + [group.name, name.service, name.account ?? ""].map(PercentEncoding.encode).joined(separator: "/")
  }

  func store(_ candidates: [MoveCandidate]) throws {
    let place = try options.vault.openPlace()
    var vault = try options.vault.open(place)
    let isGroupNew = try vault.lacks(group, isCreated: options.createGroup)
    var new: [MoveCandidate] = []
    var conflicts: [MoveCandidate] = []
    for candidate in candidates {
      if let twin = new.first(where: { $0.service == candidate.service && $0.account == candidate.account }) {
        // A key with a dot in it, and a member of a dictionary, may have one path.
        if twin.value != candidate.value { conflicts.append(candidate) }
        continue
      }
      guard !isGroupNew, let entry = try vault.entry(candidate.item(), in: group) else {
        new.append(candidate)
        continue
      }
      let secret = try vault.secret(of: entry.reference)
      if try !candidate.secret().isEqual(to: secret) { conflicts.append(candidate) }
    }
    guard conflicts.isEmpty else {
      throw Failure(
        .duplicate, "\(place.path): holds another secret of this name; nothing has been changed",
        hint: "look which of the two is right, then remove the other: coffer secret rm, or defaults delete",
        details: conflicts.map(\.conflictText))
    }
    if !new.isEmpty || isGroupNew {
      try about(place.path) {
        try vault.transaction { transaction in
          if isGroupNew { try transaction.makeGroup(group) }
          for candidate in new {
            try transaction.add(candidate.item(), secret: candidate.secret(), to: group, at: .now())
          }
        }
      }
    }
    vault.finish()
  }
}

extension MoveCandidate {
  /// Text and data as they are, a number as decimal digits.
  fileprivate func secret() throws -> Secret {
    switch value {
    case .string(let text): try unsafe Secret(copying: text.utf8.span.bytes)
    case .data(let bytes): try unsafe Secret(copying: bytes.span.bytes)
    case .integer(let number): try unsafe Secret(copying: String(number).utf8.span.bytes)
    case .unsigned(let number): try unsafe Secret(copying: String(number).utf8.span.bytes)
    default: throw Failure(.usage, "\(account): is not text, data or a number")
    }
  }

  /// With the type of the value, for a person who wants it back.
  fileprivate func item() throws -> Item {
    var item = try ItemName(service: service, account: account).item(.genericPassword)
    if let typeName, typeName != "string" { item.attributes[Item.userPrefix + "preference-type"] = .text(typeName) }
    return item
  }
}
