internal import CLinux
package import CofferConsole
internal import Glibc

/// `coffer defaults …`, or `defaults …` where the program is called by that name. It takes macOS' grammar, which is not that of
/// other commands, and starts before their parser does.
package enum DefaultsProgram {
  /// The arguments after the name; nil if the command line is for another command.
  package static func arguments(of command: [String]) -> [String]? {
    if let name = command.first?.split(separator: "/").last, name == "defaults" { return Array(command.dropFirst()) }
    return command.dropFirst().first == "defaults" ? Array(command.dropFirst(2)) : nil
  }

  /// For arguments that cannot be parsed.
  package static func refuse(_ failure: Failure) -> Int32 {
    Descriptor.error.note(DefaultsFailure(failure).text + "\n")
    return DefaultsFailure.Status.usage.rawValue
  }

  /// The names of the user's domains, without the global one and those that cannot be read.
  package static func domains() throws -> [String] {
    let invocation = try DefaultsInvocation.parse(["domains"])
    let (domains, _) = try DefaultsStore(host: invocation.host, container: invocation.container).everything()
    return domains.filter { !$0.isGlobal }.map(\.name)
  }

  /// Runs it.
  /// - Parameter vault: Opens the vault for `doctor --move`, by the options behind it.
  /// - Returns: The exit status.
  package static func run(_ arguments: [String], vault: @escaping ([String]) throws -> any SecretDestination) -> Int32 {
    // A limit on the size of files becomes an error, as a full disk is one.
    coffer_signal_ignore(SIGXFSZ)
    DefaultsNotes.print()
    do {
      let invocation = try DefaultsInvocation.parse(arguments)
      let session = DefaultsSession(
        store: DefaultsStore(host: invocation.host, container: invocation.container), isJSON: invocation.isJSON,
        isNoSecret: invocation.isNoSecret, vault: vault)
      try session.run(invocation.request)
      return DefaultsFailure.Status.ok.rawValue
    } catch let failure as VaultSideFailure {
      Descriptor.error.note(failure.reason.text)
      return failure.status
    } catch {
      let failure = DefaultsFailure(error)
      if !failure.text.isEmpty { Descriptor.error.note(failure.text + "\n") }
      return failure.status.rawValue
    }
  }
}
