import CofferStorage
import CofferTesting
import Foundation
import Testing

@testable import SecretMemory
@testable import VaultCore

/// The program and the reference implementation write the same file in turns; each reads what the other wrote, to the byte.
@Suite struct InterchangeTests {
  /// An operation on an item, the same for both.
  struct Step {
    enum Kind { case add, update, remove, move }
    let kind: Kind
    let group: String
    let item: Item
    let secret: [UInt8]
    let accessibility: Accessibility
    let target: String
    let endsCommit: Bool
  }

  static let groups = ["default", "a", "caf\u{E9}", "cafe\u{301}"]

  /// Names that trip up careless code: normal forms, surrogate order, line ends inside attribute values, every length of padding.
  static func item(_ random: inout SeededGenerator) -> Item {
    let number = Int.random(in: 0..<12, using: &random)
    let names = ["", "a", "\u{E9}", "e\u{301}", "\u{FFFF}", "\u{10000}", "\"quoted\\", "a b"]
    switch ItemClass.allCases.randomElement(using: &random)! {
    case .genericPassword:
      return Item(service: names.randomElement(using: &random)!, account: "\(number)")
    case .internetPassword:
      var item = Item(.internetPassword)
      item["server"] = "host\(number)"
      item.attributes["port"] = number == 0 ? nil : .integer(UInt64(number) << 60)
      return item
    case .key:
      var item = Item(.key)
      item.attributes["application-tag"] = .data([UInt8(number) + 1, 0, 255])
      item.attributes["end-date"] = .time(Timestamp(secondsSince1970: -Int64(number) - 1))
      return item
    case .certificate:
      var item = Item(.certificate)
      item.attributes["serial-number"] = .data([UInt8](repeating: 7, count: number + 1))
      return item
    case .note:
      var item = Item(.note)
      item["title"] = "note \(number)"
      return item
    }
  }

  static func steps(_ count: Int, model: inout [String: Accessibility], _ random: inout SeededGenerator) -> [Step] {
    (0..<count).map { _ in
      let group = groups.randomElement(using: &random)!
      var item = item(&random)
      func key(_ group: String) -> String {
        "\(Array(group.utf8)) \(item.itemClass) \(TLV.encode(item.primaryKey))"
      }
      let exists = model[key(group)] != nil
      let target = groups.randomElement(using: &random)!
      var kind: Step.Kind = exists ? [.update, .remove, .move].randomElement(using: &random)! : .add
      if kind == .move && (model[key(target)] != nil || target.utf8.elementsEqual(group.utf8)) { kind = .update }
      let accessibility: Accessibility = [.whenUnlocked, .afterFirstUnlock, .afterFirstUnlockThisDevice].randomElement(
        using: &random)!
      switch kind {
      case .add: model[key(group)] = accessibility
      case .update: break
      case .remove: model[key(group)] = nil
      case .move: model[key(target)] = model.removeValue(forKey: key(group))
      }
      item.label = Bool.random(using: &random) ? "label\n\u{1F600}" : nil
      item["user.note"] = Bool.random(using: &random) ? "x" : nil
      let lengths = [0, 1, 127, 128, 255, 256, 4095, 4096, 9000]
      let secret = (0..<lengths.randomElement(using: &random)!).map { _ in UInt8.random(in: 0...255, using: &random) }
      return Step(
        kind: kind, group: group, item: item, secret: secret, accessibility: accessibility, target: target,
        endsCommit: Int.random(in: 0..<3, using: &random) == 0)
    }
  }

  static func apply(_ steps: [Step], to vault: inout Vault) throws {
    var pending = steps[...]
    while !pending.isEmpty {
      let end = pending.firstIndex(where: \.endsCommit).map { $0 + 1 } ?? pending.endIndex
      let commit = pending[..<end]
      pending = pending[end...]
      try vault.transaction { transaction in
        for step in commit {
          let group = try AccessGroup(step.group)
          if step.kind == .add {
            try transaction.add(
              step.item, secret: Secret(testing: step.secret), to: group, accessible: step.accessibility, at: .test)
            continue
          }
          guard let entry = try transaction.entry(step.item, in: group) else { throw VaultError(.notFound, "\(step)") }
          switch step.kind {
          case .add: break
          case .update:
            try transaction.update(entry.reference, secret: Secret(testing: step.secret), at: .test) {
              $0.label = step.item.label
              $0["user.note"] = step.item["user.note"]
            }
          case .remove: try transaction.remove(entry.reference)
          case .move: try transaction.move(entry.reference, to: AccessGroup(step.target), at: .test)
          }
        }
      }
    }
  }

  /// The same steps for the reference implementation.
  static func operations(_ steps: [Step]) throws -> String {
    func json(_ attributes: Attributes) -> [String: Any] {
      Dictionary(
        uniqueKeysWithValues: attributes.map { name, value -> (String, Any) in
          switch value {
          case .text(let text): (name, ["type": "text", "value": Data(text.utf8).base64EncodedString()])
          case .data(let data): (name, ["type": "data", "value": Data(data).base64EncodedString()])
          case .integer(let integer): (name, ["type": "integer", "value": integer])
          case .time(let time): (name, ["type": "time", "value": time.secondsSince1970])
          }
        })
    }
    return try steps.map { step in
      var primary = Attributes()
      for (name, absent) in step.item.itemClass.primaryAttributes {
        if let value = step.item.attributes[name], value != absent { primary[name] = value }
      }
      primary["class"] = .integer(UInt64(step.item.itemClass.rawValue))
      var all = primary
      all["label"] = step.item.attributes["label"]
      all["user.note"] = step.item.attributes["user.note"]
      var operation: [String: Any] = ["group": step.group, "commit": step.endsCommit]
      switch step.kind {
      case .add:
        operation["op"] = "add"
        operation["attributes"] = json(all)
        operation["secret"] = Data(step.secret).base64EncodedString()
        operation["accessible"] = Int(step.accessibility.rawValue)
      case .update:
        operation["op"] = "update"
        operation["item"] = json(primary)
        operation["set"] = json(all)
        operation["unset"] = ["label", "user.note"].filter { all[$0] == nil }
        operation["secret"] = Data(step.secret).base64EncodedString()
      case .remove:
        operation["op"] = "remove"
        operation["item"] = json(primary)
      case .move:
        operation["op"] = "move"
        operation["item"] = json(primary)
        operation["to"] = step.target
      }
      return String(decoding: try JSONSerialization.data(withJSONObject: operation, options: [.sortedKeys]), as: UTF8.self)
    }.joined(separator: "\n") + "\n"
  }

  /// An anchor in the file that the reference is given.
  private final class SharedAnchor: AnchorStore {
    let file: URL
    init(at path: String) { file = URL(filePath: path) }

    func lastVault() throws -> [UInt8]? { nil }
    func load(_ vault: Identifier) throws -> [UInt8]? { (try? Data(contentsOf: file)).map { [UInt8]($0) } }
    func update(_ vault: Identifier, isDurable: Bool, _ replacement: ([UInt8]?) throws -> [UInt8]?) throws {
      if let anchor = try replacement(load(vault)) { try Data(anchor).write(to: file) }
    }
    func accept(_ vault: Identifier, _ anchor: [UInt8]) throws { try Data(anchor).write(to: file) }
  }

  @Test(.timeLimit(.minutes(60)), arguments: [1, 2, 3] as [UInt64])
  func bothWriteInTurns(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let directory = try Directory(inMemory: true)
    let (path, key, device, anchor) = (
      directory.file("vault.coffer"), directory.file("key"), directory.file("device"), directory.file("anchor")
    )
    try Data([UInt8](repeating: 0x54, count: 64)).write(to: URL(filePath: key))
    try Data([UInt8](repeating: 0xD0, count: 32)).write(to: URL(filePath: device))
    let options = ["--key-file", key, "--device-key", device, "--anchor", anchor]
    func reference(_ arguments: [String]) throws -> Data {
      let answer = try ReferenceVectorTests.python(["coffer_ref.py"] + arguments)
      try #require(answer.status == 0, "\(String(decoding: answer.output, as: UTF8.self))")
      return answer.output
    }
    func open() throws -> Vault {
      try Vault.openThrowAway(
        FileStore(at: path), anchor: SharedAnchor(at: anchor), deviceKey: Secret(testing: [UInt8](repeating: 0xD0, count: 32)))
    }
    // Each seed lets another one make the vault.
    if seed % 2 == 0 {
      try Vault.throwAway(in: FileStore.create(at: path), anchor: SharedAnchor(at: anchor)).close()
    } else {
      _ = try reference(["create", path] + options)
    }
    do {
      var vault = try open()
      for group in Self.groups.dropFirst() { try vault.createGroup(AccessGroup(group), at: .test) }
      try vault.close()
    }
    var model: [String: Accessibility] = [:]
    var operations = 0
    for round in 0..<8 {
      // More than 256 records on the way: the tree grows under one hand or the other.
      let steps = Self.steps(round % 4 == 3 ? 260 : 60, model: &model, &random)
      operations += steps.count
      if round % 2 == Int(seed % 2) {
        var vault = try open()
        try Self.apply(steps, to: &vault)
        try vault.close()
      } else {
        let file = directory.file("operations.jsonl")
        try Self.operations(steps).write(toFile: file, atomically: true, encoding: .utf8)
        _ = try reference(["apply", path, file] + options)
      }
      let vault = try open()
      #expect(try vault.verify().problems == [])
      #expect(try vault.entries().entries.count == model.count)
      let ours = try Dump.lines(vault)
      try vault.close()
      let theirs = try reference(["dump", path] + options)
      #expect(ours == theirs, "round \(round)")
      #expect(try reference(["verify", path] + options) == Data("sound\n".utf8))
    }
    #expect(operations >= 800)
  }

  @Test func workedValuesAgree() throws {
    let answer = try ReferenceVectorTests.python(["coffer_ref.py", "check-values", "../Vectors/values.txt"])
    #expect(answer.status == 0, "\(String(decoding: answer.output, as: UTF8.self))")
  }

  /// The reference implementation's own tests.
  @Test(.timeLimit(.minutes(60))) func referencePassesItsTests() throws {
    #expect(try ReferenceVectorTests.python(["-m", "unittest", "-q"]).status == 0)
  }
}
