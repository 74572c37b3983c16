import FakePinentry

@testable import Pinentry

extension FakePinentry {
  func pinentry(at display: Display = Display(environment: { $0 == "DISPLAY" ? ":7" : nil }), reaction: Int64 = 60_000) throws
    -> Pinentry
  {
    var pinentry = try Pinentry(program(), at: display)
    pinentry.patience = .init(reaction: reaction, grace: reaction)
    return pinentry
  }
}
