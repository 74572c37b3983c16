import SSHAgentProtocol
import SecretMemory
import Testing

/// The messages as OpenSSH sends them.
@Suite struct MessageTests {
  private static func identity(_ text: String) -> Identity {
    Identity(key: WireField.string(Array("ssh-ed25519".utf8)) + Array(text.utf8), comment: Array("of \(text)".utf8))
  }

  private static func answer(_ identities: [Identity]) -> IdentitiesAnswer {
    var answer = IdentitiesAnswer()
    answer.add(identities)
    return answer
  }

  @Test func anAnswerIsReadAsItWasWritten() {
    let answer = Self.answer([Self.identity("a"), Self.identity("b")])
    #expect(IdentitiesAnswer(parsing: answer.message) == answer)
    #expect(answer.message.prefix(5) == [12, 0, 0, 0, 2])
    for count in 0..<answer.message.count { #expect(IdentitiesAnswer(parsing: Array(answer.message.prefix(count))) == nil) }
    #expect(IdentitiesAnswer(parsing: answer.message + [0]) == nil)
    #expect(IdentitiesAnswer(parsing: [11] + answer.message.dropFirst()) == nil)
  }

  @Test(arguments: [UInt32(1), 0x7FFF_FFFF, .max]) func aCountWithoutKeysIsMalformed(count: UInt32) {
    #expect(IdentitiesAnswer(parsing: [12] + WireField.number(count)) == nil)
  }

  /// Also one that a client has added to OpenSSH's agent.
  @Test func aKeyIsListedOnce() {
    var answer = Self.answer([Self.identity("a")])
    let other = Identity(key: Self.identity("a").key, comment: [])
    answer.add([other, Self.identity("b"), Self.identity("b")])
    #expect(answer.identities == [Self.identity("a"), Self.identity("b")])
  }

  @Test func aListFitsOneMessage() {
    var answer = IdentitiesAnswer()
    answer.add((0..<40).map { Identity(key: WireField.number($0) + [UInt8](repeating: 1, count: 10_000), comment: []) })
    #expect(answer.identities.count == (256 << 10) / 10_012)
    #expect(answer.message.count <= 256 << 10 && IdentitiesAnswer(parsing: answer.message) == answer)
  }

  @Test func aRequestForASignature() {
    let message = [13] + WireField.string([1, 2]) + WireField.string([3]) + WireField.number(4)
    let request = SignRequest(parsing: message)
    #expect(request?.key == [1, 2] && request?.data == [3] && request?.flags == 4 && request?.message == message)
    for count in 0..<message.count { #expect(SignRequest(parsing: Array(message.prefix(count))) == nil) }
    #expect(SignRequest(parsing: message + [0]) == nil)
    #expect(SignRequest(parsing: [13] + WireField.number(.max) + message) == nil)
  }

  /// Constraints follow each other, so the seconds stand behind those that the key has.
  @Test func aKeyIsAddedForTwoSeconds() throws {
    let added = try Secret(copying: [17, 5, 6, 7])
    let message = try KeyForAdding.message(adding: KeyForAdding.key(in: added)).copyIntoUnprotectedBytes()
    #expect(message == [25, 5, 6, 7, 1, 0, 0, 0, 2])
    #expect(KeyForAdding.isAdded(by: 17) && KeyForAdding.isAdded(by: 25) && !KeyForAdding.isAdded(by: 20))
  }
}

/// Each message is handled by its number and the state.
@Suite struct HandlingTests {
  private static let request = [13] + WireField.string([1]) + WireField.string([2]) + WireField.number(0)

  private func handling(_ message: [UInt8], isLocked: Bool = false, isInVault: Bool = true) -> Handling {
    Handling(message, isLocked: isLocked, isInVault: { _ in isInVault })
  }

  @Test func keysOfTheVaultAreSignedWithAndOthersAreNot() throws {
    let request = try #require(SignRequest(parsing: Self.request))
    #expect(handling(Self.request) == .sign(request))
    #expect(handling(Self.request, isInVault: false) == .pass)
    #expect(handling(Array(Self.request.dropLast())) == .pass)
  }

  /// ssh-add -x.
  @Test func lockedNothingOfTheVaultIsListedOrUsed() {
    #expect(handling([11]) == .list)
    #expect(handling([11], isLocked: true) == .pass)
    #expect(handling(Self.request, isLocked: true) == .refuse)
    #expect(handling([22], isLocked: true) == .lock && handling([23], isLocked: true) == .unlock)
  }

  @Test func allOthersArePassedOn() {
    for number in UInt8.min ... .max where ![11, 13, 22, 23, 27].contains(number) { #expect(handling([number]) == .pass) }
    #expect(handling([27] + WireField.string(Array("query".utf8))) == .pass)
    #expect(handling([]) == .pass)
  }

  /// OpenSSH's agent ends if it gets another message with this number.
  @Test func aLockHasOnePassphrase() throws {
    func hasPassphrase(_ message: [UInt8]) throws -> Bool { Handling.hasPassphrase(try Secret(copying: message)) }
    #expect(try hasPassphrase([22, 0, 0, 0, 1, 7]) && hasPassphrase([22, 0, 0, 0, 0]))
    for message in [
      [22], [22, 0, 0, 0], [22, 0, 0, 0, 2, 7], [22, 0, 0, 0, 1, 7, 7], [22, 0, 0, 0, 2, 7, 0], [22, 255, 255, 255, 255],
    ] as [[UInt8]] {
      #expect(try !hasPassphrase(message), "\(message)")
    }
  }

  /// Passphrases and private keys are in none of those.
  @Test func onlyMessagesWithoutSecretsAreLookedAt() {
    #expect((UInt8.min ... .max).filter(Handling.isPublic) == [11, 13, 27])
  }
}
