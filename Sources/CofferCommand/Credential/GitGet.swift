import Coffer
import CofferConsole
import CofferStorage
import CredentialProtocols
import SecretMemory
import VaultCore

/// `get`: the credential that fits best. Nothing is printed if there is none.
enum GitGet {
  static func run(_ items: GitItems, _ place: GitPlace, _ message: borrowing GitMessage) throws {
    let user = try message.text(.username)
    let candidates = try items.candidates(place, user: user).filter {
      $0.authenticationType == nil || message.understandsAuthenticationTypes
    }
    guard let best = candidates.first else { return }
    note(candidates, place)
    let name = best.entry.nameWithGroup
    let purpose = "git: \(place.description)"
    let answer = try about(name) {
      var answer = try GitAnswer()
      if let type = best.authenticationType {
        try answer.add(.capability, GitMessage.authenticationTypes)
        try answer.add(.authenticationType, type)
      }
      if best.authenticationType == nil || !best.user.isEmpty { try answer.add(.username, best.user) }
      // git before 2.40 would send an expired one all the same.
      if !best.fit.isExpired {
        try answer.add(
          best.authenticationType == nil ? .password : .credential, line(of: best.entry, in: items, purpose))
        if let expiry = GitFit.expiry(of: best.item) { try answer.add(.passwordExpiry, "\(expiry)") }
      }
      if let refresh = try items.refreshToken(of: best.entry) {
        try answer.add(.refreshToken, line(of: refresh, in: items, purpose))
      }
      return answer
    }
    try answer.bytes.withBytes { try Descriptor.output.write($0) }
  }

  /// echo(1) may have put a line end behind it, which no password for git has.
  private static func line(of entry: Entry, in items: GitItems, _ purpose: String) throws -> Secret {
    var secret = try items.keychain.secret(of: entry.reference, purpose: purpose)
    secret.dropLineEnd()
    return secret
  }

  /// For a person whose git may take another account than the one that was meant.
  private static func note(_ candidates: [GitItems.Candidate], _ place: GitPlace) {
    guard let best = candidates.first, best.fit.preferredCount == nil, Descriptor.error.isTerminal else { return }
    let others = Set(candidates.filter { $0.fit.pathCount == best.fit.pathCount }.map(\.user)).subtracting([best.user])
    guard !others.isEmpty else { return }
    let names = others.sorted().joined(separator: ", ")
    Descriptor.error.note(
      "note: \(place.description): the password of \(best.user), not of \(names)\n".escapingControlsInLines()
        + "hint: coffer credential git prefer USER \(place.host)\n".escapingControlsInLines())
  }
}
