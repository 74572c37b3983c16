import CofferAgent
import CofferRequests
import CofferWire
import Testing

@Suite struct GateTests {
  static let programs: [ProgramIdentity] = [
    .app("T.com.example.editor"), .command, .program(path: "/usr/bin/git", digest: "d"), .interpreter(path: "/usr/bin/python3"),
    .unknown("why"), .unit("backup.service"), .flatpak("org.example.App"), .own(.sshAgent),
    .own(.secretService), .client(.command, of: .secretService),
  ]
  /// The requests of `coffer-secrets`.
  static let secretService: [Request.Kind] = [.items, .entry, .secret, .add, .update, .remove, .discard, .watch]
  static let items: [Request.Kind] = [
    .entitlements, .items, .contains, .entry, .secret, .add, .addAll, .update, .move, .remove, .discard, .history, .removed,
    .version,
    .restore, .purge, .purgeExpired,
  ]

  private func code(_ facts: Gate.Facts) -> KeychainError.Code? {
    if case .refuse(let code, _) = Gate.decide(facts) { code } else { nil }
  }

  /// A place for a large frame is given to programs with rights alone.
  @Test func fewRequestsAreOpenToAnyProgram() {
    for operation in Request.Kind.allCases {
      for isSystem in [false, true] {
        let facts = Gate.Facts(
          operation: operation, program: .unknown("why"), isSameUser: true, isOwner: false, wasUnlocked: true, isSystem: isSystem)
        guard case .allow = Gate.decide(facts) else { continue }
        #expect(FrameKind.request(operation).maximumBodyByteCount == WireLimits.smallBodyByteCount, "\(operation)")
      }
    }
  }

  /// Root alone may send requests beside the user, and only two.
  @Test func rootMaySendFewRequests() {
    for operation in Request.Kind.allCases {
      for (isSystem, isRoot) in [(false, true), (true, true), (true, false)] {
        let facts = Gate.Facts(
          operation: operation, program: .command, isSameUser: false, isRoot: isRoot, isOwner: true, isSystem: isSystem)
        let isOpen = isRoot && (operation == .inspect || [.backup, .restoreVault].contains(operation) && isSystem)
        #expect((Gate.decide(facts) == .allow(.anybody)) == isOpen, "\(operation)")
      }
    }
  }

  /// The whole table: every operation, program and state.
  @Test func everyCombination() {
    for operation in Request.Kind.allCases {
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
            } else if [.status, .lock, .unlock, .inspect, .end].contains(operation) {
              .allow(.anybody)
            } else if Self.shown.contains(operation) {
              !wasUnlocked ? nil : isOwner ? .allow(.owner) : program == .command ? .allow(.program) : nil
            } else if operation != .watch && (!Self.items.contains(operation) || !wasUnlocked) {
              nil
            } else if isOwner {
              .allow(.owner)
            } else {
              switch program {
              case .app, .command, .unit, .flatpak: .allow(.program)
              case .own(.sshAgent) where [.items, .secret].contains(operation): .allow(.program)
              case .own(.secretService) where Self.secretService.contains(operation): .allow(.program)
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
    #expect(code(Gate.Facts(operation: .secret, program: app, isSameUser: false)) == .missingEntitlement)
    #expect(code(Gate.Facts(operation: .secret, program: app, wasUnlocked: false)) == .locked)
    #expect(code(Gate.Facts(operation: .secret, program: .unknown("x"))) == .missingEntitlement)
    // The check for "never unlocked" comes first: the answer does not reveal which program would be admitted otherwise.
    #expect(code(Gate.Facts(operation: .secret, program: .unknown("x"), wasUnlocked: false)) == .locked)
  }

  /// A grant to exactly its content lets a program in, once it has spoken for itself.
  @Test func aProgramOfGrantedContent() {
    let program = ProgramIdentity.program(path: "/opt/backup", digest: "d")
    func decide(_ operation: Request.Kind, isGranted: Bool, isSenderProven: Bool) -> Gate.Decision {
      Gate.decide(Gate.Facts(operation: operation, program: program, isSenderProven: isSenderProven, isGranted: isGranted))
    }
    for operation in Self.items + [.watch] {
      #expect(decide(operation, isGranted: true, isSenderProven: true) == .allow(.program))
      #expect(decide(operation, isGranted: true, isSenderProven: false) == .challenge)
      guard case .refuse(KeychainError.Code.missingEntitlement, _) = decide(operation, isGranted: false, isSenderProven: true)
      else {
        Issue.record("\(operation)")
        continue
      }
    }
    for operation in Self.shown + Self.appCalls {
      guard case .refuse = decide(operation, isGranted: true, isSenderProven: true) else {
        Issue.record("\(operation)")
        continue
      }
    }
  }

  /// No other program names the one that it asks for: whatever it may do itself.
  @Test func cofferSecretsAloneAsksForOthers() {
    for operation in Request.Kind.allCases {
      for program in Self.programs {
        var facts = Gate.Facts(operation: operation, program: program, isOwner: true)
        let own = Gate.decide(facts)
        facts.client = .unknown
        if program == .own(.secretService) {
          #expect(Gate.decide(facts) == own)
        } else {
          #expect(code(facts) == .missingEntitlement, "\(operation), \(program)")
        }
      }
    }
  }

  /// Another program may have become `coffer`: it returns a number first.
  @Test func theCommandSpeaksForItself() {
    for operation in Self.shown {
      #expect(Gate.decide(Gate.Facts(operation: operation, program: .command, isSenderProven: false)) == .challenge)
    }
  }

  private static let vaultCalls: [Request.Kind] = [.create, .addSlot, .replaceSlot, .removeSlot]
  private static let appCalls: [Request.Kind] = [
    .install, .uninstall, .itemCount, .forget, .grant, .revoke, .createGroup, .renameGroup, .removeGroup,
  ]
  private static let logCalls: [Request.Kind] = [.log, .logPart]
  /// Lists that `coffer` may see, and leases, which it may end.
  private static let shown: [Request.Kind] = [.pins, .grants, .leases, .endLease, .groups]

  /// Requests to the system agent only: about the vault by any program, with a proof in the call; about apps by the owner, from any
  /// program.
  @Test func theSystemsAgent() {
    for operation in Self.vaultCalls + Self.appCalls + Self.logCalls + [.end, .inspect] {
      for program in Self.programs {
        for (isSameUser, isOwner) in [(true, false), (true, true), (false, false), (false, true)] {
          for isSystem in [false, true] {
            let facts = Gate.Facts(
              operation: operation, program: program, isSameUser: isSameUser, isOwner: isOwner, isSystem: isSystem)
            let expected: Gate.Decision? =
              switch operation {
              case _ where !isSameUser: nil
              case .inspect: .allow(.anybody)
              case .end: isSystem ? nil : .allow(.anybody)
              case _ where !isSystem: nil
              case _ where Self.logCalls.contains(operation):
                isOwner ? .allow(.owner) : program == .command ? .allow(.program) : nil
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
