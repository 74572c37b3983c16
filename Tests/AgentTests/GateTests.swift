import Agent
import ItemService
import Testing
import Wire

@Suite struct GateTests {
  static let programs: [ProgramIdentity] = [
    .app("T.com.example.editor"), .command, .system(path: "/usr/bin/git"), .interpreter(path: "/usr/bin/python3"),
    .unknown("why"), .unit("backup.service"), .flatpak("org.example.App"),
  ]
  static let items: [Wire.Operation] = [
    .entitlements, .items, .contains, .entry, .secret, .add, .update, .move, .remove, .discard,
  ]

  private func code(_ facts: Gate.Facts) -> String? {
    if case .refuse(let code, _) = Gate.decide(facts) { code } else { nil }
  }

  /// The whole table: every operation, program and state.
  @Test func everyCombination() {
    for operation in Wire.Operation.allCases {
      for program in Self.programs {
        for (isSameUser, isOwner, wasUnlocked) in [
          (true, false, true), (true, false, false), (true, true, true), (true, true, false),
          (false, false, true), (false, true, true), (false, false, false),
        ] {
          let facts = Gate.Facts(
            operation: operation, program: program, isSameUser: isSameUser, isOwner: isOwner, wasUnlocked: wasUnlocked)
          let expected: Gate.Decision? =
            if !isSameUser {
              nil
            } else if [.status, .lock, .unlock, .end].contains(operation) {
              .allow(.anybody)
            } else if operation != .watch && (!Self.items.contains(operation) || !wasUnlocked) {
              nil
            } else if isOwner {
              .allow(.owner)
            } else {
              switch program {
              case .app(let name): .allow(.app(name))
              case .command: .allow(.command)
              case .unit(let name): .allow(.granted(.unit(name)))
              case .flatpak(let identifier): .allow(.granted(.flatpak(identifier)))
              default: nil
              }
            }
          let decision = Gate.decide(facts)
          if let expected {
            #expect(decision == expected, "\(facts)")
          } else {
            guard case .refuse = decision else {
              Issue.record("\(facts): \(decision)")
              continue
            }
          }
        }
      }
    }
  }

  @Test func refusalsSayWhy() {
    let app = Self.programs[0]
    #expect(code(Gate.Facts(operation: .secret, program: app, isSameUser: false)) == "missingEntitlement")
    #expect(code(Gate.Facts(operation: .secret, program: app, wasUnlocked: false)) == "locked")
    #expect(code(Gate.Facts(operation: .secret, program: .unknown("x"))) == "missingEntitlement")
    // That it was never unlocked comes first: it is not told who would be let in otherwise.
    #expect(code(Gate.Facts(operation: .secret, program: .unknown("x"), wasUnlocked: false)) == "locked")
    #expect(code(Gate.Facts(operation: .done, program: app)) == "notAllowed")
  }

  private static let vaultCalls: [Wire.Operation] = [.create, .inspect, .addSlot, .replaceSlot, .removeSlot]
  private static let appCalls: [Wire.Operation] = [.pins, .install, .uninstall, .itemCount, .forget, .grants, .grant, .revoke]

  /// What is asked of an agent of the system alone: the vault by anybody, with a proof in the call; apps by the owner, whatever the program.
  @Test func theSystemsAgent() {
    for operation in Self.vaultCalls + Self.appCalls + [.end] {
      for program in Self.programs {
        for (isSameUser, isOwner) in [(true, false), (true, true), (false, false), (false, true)] {
          for isSystem in [false, true] {
            let facts = Gate.Facts(
              operation: operation, program: program, isSameUser: isSameUser, isOwner: isOwner, isSystem: isSystem)
            let expected: Gate.Decision? =
              switch operation {
              case _ where !isSameUser: nil
              case .end: isSystem ? nil : .allow(.anybody)
              case _ where !isSystem: nil
              case _ where Self.vaultCalls.contains(operation): .allow(.anybody)
              default: isOwner ? .allow(.owner) : nil
              }
            let decision = Gate.decide(facts)
            if case .refuse = decision { #expect(expected == nil, "\(facts)") } else { #expect(decision == expected, "\(facts)") }
          }
        }
      }
    }
  }
}
