import SSHAgentProtocol

extension FuzzTarget {
  /// Messages of clients and agents for ssh, and the files beside them.
  static let ssh: [FuzzTarget] = [
    FuzzTarget("ssh-message") { bytes in
      if let answer = IdentitiesAnswer(parsing: bytes) {
        try promise(answer.message == bytes, "a list of keys is encoded as it was read")
        var more = answer
        more.add([Identity(key: bytes, comment: [])])
        try promise(
          more == answer || IdentitiesAnswer(parsing: more.message) == more && more.message.count <= AgentLimits.messageByteCount,
          "a longer list is one message")
      }
      if let request = SignRequest(parsing: bytes) {
        try promise(request.message == bytes, "a request is encoded as it was read")
        _ = Purpose.text(of: SignedData(request.data), []) { _ in nil }
      }
      _ = Purpose.text(of: SignedData(bytes), SessionBind(parsing: bytes).map { [$0] } ?? []) { _ in nil }
      let handling = Handling(bytes, isLocked: true) { _ in true }
      if case .sign = handling { try promise(false, "a locked agent signs with nothing of the vault") }
    },
    FuzzTarget("ssh-text") { bytes in
      _ = KnownHosts.name(ofHostWith: [], in: bytes)
      guard let line = PublicKeyLine(parsing: bytes) else { return }
      let text = Array(line.text.utf8)
      try promise(!text.contains(0x0A) && !text.contains(0x0D), "a public key is one line")
      try promise(PublicKeyLine(parsing: text)?.identity.key == line.identity.key, "a public key is read as it was written")
      _ = KnownHosts.name(ofHostWith: line.identity.key, in: Array("host ".utf8) + text)
    },
  ]
}
