import CofferTesting
import Passphrases
import Testing
import VaultCore

@testable import Wire

/// What is asked of an agent of the system alone.
@Suite struct OwnerCallTests {
  private static func arrived(_ call: consuming Call) throws -> Call {
    try Received(call.frame(request: 1)).call()
  }

  private func text(_ secret: borrowing Secret) -> String { WireTests.text(secret) }

  @Test func credentialsArriveApart() throws {
    let id = Identifier([UInt8](repeating: 7, count: 16))!
    let proof = try Credential.passphrase(Secret(testing: "old"), andKeyFile: Secret(testing: "file"))
    guard
      case .vault(.replaceSlot(let slot, let credential, let kdf, let by)) = try Self.arrived(
        .vault(.replaceSlot(id, .passphrase(Secret(testing: "new")), .lowMemory, by: proof)))
    else {
      Issue.record("another call")
      return
    }
    #expect(slot == id && kdf == .lowMemory)
    #expect(credential.slotType == .passphrase && text(credential.text) == "new" && credential.file.count == 0)
    #expect(by.slotType == .passphraseAndKeyFile && text(by.text) == "old" && text(by.file) == "file")
    guard
      case .vault(.create(let made, _, let recovery)) = try Self.arrived(
        .vault(.create(.keyFile(Secret(testing: "k")), .standard, recovery: Secret(testing: "r"))))
    else {
      Issue.record("another call")
      return
    }
    #expect(made.slotType == .keyFile && text(made.file) == "k" && text(recovery) == "r")
  }

  @Test func appCallsArriveAsTheyWereSent() throws {
    let group = try AccessGroup("g")
    let calls: [AppCall] = [
      .pins, .install([1, 2, 3]), .uninstall("a"), .itemCount("a"), .forget("a"), .grants("a"), .grants(nil), .revoke("a", group),
      .leases,
      .endLease(7), .log, .logPart(ring: "uses", first: 1, offset: 9),
      .grant("a", group, [.read, .list], asksForConfirmation: true),
    ]
    for call in calls {
      guard case .apps(let arrived) = try Self.arrived(.apps(call)) else {
        Issue.record("\(call)")
        continue
      }
      #expect(arrived == call)
    }
  }

  /// Lengths and kinds that do not fit what is there.
  @Test func whatDoesNotFitIsRefused() throws {
    func refused(_ operation: Wire.Operation, _ change: (inout Attributes) -> Void, secret: String = "oldnew") throws -> Bool {
      var fields = Attributes()
      for (name, count) in [("by", 3), ("new", 3)] {
        fields["\(name)-kind"] = .integer(UInt64(SlotType.passphrase.rawValue))
        fields["\(name)-text"] = .integer(UInt64(count))
        fields["\(name)-file"] = .integer(0)
      }
      fields["iterations"] = .integer(3)
      fields["memory"] = .integer(64 << 10)
      change(&fields)
      do {
        _ = try Call.parse(operation, Message(fields: fields, secret: Secret(testing: secret)))
        return false
      } catch { return true }
    }
    #expect(try !refused(.addSlot, { _ in }))
    #expect(try refused(.addSlot, { _ in }, secret: "oldne"))
    #expect(try refused(.addSlot, { _ in }, secret: "oldnewx"))
    #expect(try refused(.addSlot, { $0["by-text"] = .integer(.max) }))
    #expect(try refused(.addSlot, { $0["new-text"] = nil }))
    #expect(try refused(.addSlot, { $0["new-kind"] = .integer(UInt64(SlotType.external.rawValue)) }))
    #expect(try refused(.addSlot, { $0["new-kind"] = .integer(UInt64(SlotType.keyFile.rawValue)) }))
    #expect(try refused(.addSlot, { ($0["new-text"], $0["new-file"]) = (.integer(0), .integer(3)) }))
    #expect(try refused(.addSlot, { $0["memory"] = .integer(1) }))
    #expect(try refused(.addSlot, { $0["memory"] = .integer(.max) }))
    #expect(try refused(.addSlot, { $0["more"] = .integer(1) }))
    #expect(try refused(.replaceSlot, { _ in }))
    #expect(try refused(.inspect, { _ in }))
    #expect(try refused(.pins, { _ in }))
    #expect(throws: WireError.self) { _ = try Call.parse(.grant, Message(fields: Attributes())) }
  }
}
