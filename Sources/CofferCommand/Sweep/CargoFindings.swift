import CofferConsole
import CofferFiles
import ForeignFormats
import VaultCore

/// cargo asks `cargo-credential-coffer` about the registries that a sweep has moved.
enum CargoFindings {
  static let program = "cargo-credential-coffer"
  /// The first version of cargo with providers for credentials.
  private static let firstVersion = 74

  static func findings(of text: SourceText, in place: SweepPlace) throws -> [SweepFinding] {
    let tokens = try CargoFormat.tokens(of: text)
    guard !tokens.isEmpty else { return [] }
    let general = obstacle
    let configuration = CargoConfiguration(beside: place.path)
    return tokens.map { token in
      let own = token.isToken ? configuration.obstacle(for: token.registry) : "coffer keeps tokens alone, without escapes"
      return SweepFinding(token.item, as: .cargoProvider, unless: general ?? own)
    }
  }

  private static var obstacle: String? {
    if !CalledName.isInstalled(program) { return "\(program) is not in PATH" }
    do {
      guard let version = try CargoProgram.minorVersion(), version >= firstVersion else {
        return "takes cargo 1.\(firstVersion) or later in PATH"
      }
      return nil
    } catch {
      return "not looked at: \(Failure(error).message)"
    }
  }
}

extension CargoConfiguration {
  fileprivate func obstacle(for registry: String) -> String? {
    do {
      _ = try change()
      guard let text = try content()?.text, try CargoFormat.hasOwnProvider(registry, in: text) else { return nil }
      return "the configuration names another credential-provider for it"
    } catch {
      return "\(path) cannot be changed safely: global-credential-providers in [registry]"
    }
  }
}

enum CargoProgram {
  /// The second number of the version: 74 of 1.74.0. Returns nil if cargo is missing.
  /// - Throws: other, if it does not end by itself.
  static func minorVersion() throws -> Int? {
    let outcome: ProgramOutput.Outcome
    do { outcome = try ProgramOutput.of("cargo", ["--version"]) } catch let failure as Failure where failure.status == .notFound {
      return nil
    }
    guard outcome.status == 0 else { return nil }
    let words = String(decoding: outcome.output, as: UTF8.self).split(separator: " ")
    let numbers = words.dropFirst().first?.split(separator: ".") ?? []
    return numbers.first == "1" && numbers.count > 1 ? Int(numbers[1]) : nil
  }
}
