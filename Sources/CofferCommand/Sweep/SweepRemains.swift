import Coffer
import CofferConsole
import CofferFiles
import ForeignFormats
import ProgramSecrets
import SecretMemory
import VaultCore

/// The items of a sweep whose file was changed since, perhaps after a kill that has come before the change of the file.
struct SweepRemains {
  /// Those that do not stand in the file with the same value, or to which it has a reference. The others go with the record.
  private(set) var staying: [Entry] = []
  private let items: OpenItems

  /// - Parameters:
  ///   - record: The record of the sweep.
  ///   - key: The secret of a file that is a key for ssh.
  init(of record: Entry, _ text: SourceText, at place: SweepPlace, key: HeldSecret? = nil, in items: OpenItems) throws {
    self.items = items
    let found = (try? SweepScan(text, place).findings().compactMap(\.item)) ?? []
    let present = try found.map { (item: $0, reference: try items.item($0.item, in: .standard)?.reference) }
    for entry in try Self.made(by: record, SSHKeys(items)).sorted(by: { $0.nameWithGroup < $1.nameWithGroup }) {
      let parts = try items.companions(of: entry) + [entry]
      let one = present.first { $0.reference == entry.reference }?.item
      let values = one.map { [$0.secret] + $0.companions.map(\.secret) } ?? [key].compactMap(\.self)
      let isSame = SweepMove.belongings.allSatisfy { one?.item[$0] == entry.item[$0] }
      let isStanding = try parts.allSatisfy { part in
        let secret = try items.keychain.secret(of: part.reference, purpose: SweepRecord.purpose)
        return values.contains { $0.secret.isEqual(to: secret) } && !text.contains(part.item.reference(in: .standard))
      }
      if !isSame || !isStanding { staying.append(entry) }
    }
  }

  /// The items of a sweep.
  static func made(by record: Entry, _ keys: SSHKeys) throws -> [Entry] {
    let keychain = keys.items.keychain
    let own = try keychain.contains(.sshKeys) ? keychain.items(KeychainQuery(.key, group: .sshKeys)) : []
    let sweep = record.item[SweepRecord.sweep] ?? ""
    return try (keychain.items(KeychainQuery(nil, group: .standard)) + own)
      .filter { $0.reference != record.reference && $0.item.isOf(sweep) }
  }

  /// Names the items that stay, and takes the marks of all sweeps from them: no undo removes them.
  func release() throws {
    for entry in staying {
      Descriptor.error.note("note: \(entry.nameWithGroup): is of the earlier sweep, and stays\n".escapingControlsInLines())
    }
    for entry in staying {
      try items.keychain.update(entry.reference) { item in
        item[SweepRecord.sweptFrom] = nil
        item[SweepRecord.sweep] = nil
      }
    }
  }
}

extension SourceText {
  fileprivate func contains(_ words: String) -> Bool {
    let bytes = Array(words.utf8)
    return (0..<max(0, count - bytes.count + 1)).contains { start in bytes.indices.allSatisfy { self[start + $0] == bytes[$0] } }
  }
}
