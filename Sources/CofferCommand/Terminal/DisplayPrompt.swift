import CofferConsole
import Pinentry
import SecretMemory

/// Asks in a window of GnuPG's pinentry, if there is a display and no terminal.
struct DisplayPrompt {
  /// How long a window waits, in seconds. A terminal has a person before it; a window may be on a screen that is not watched.
  private static let seconds = 300

  private let pinentry: Pinentry

  /// Returns nil if there is no display, or no pinentry.
  static func open() throws -> DisplayPrompt? {
    let display = Display.current
    guard display.hasDisplay else { return nil }
    do throws(PinentryError) {
      return DisplayPrompt(pinentry: try Pinentry(.current(), at: display))
    } catch {
      Descriptor.error.note("note: no question is shown at the display: \(error.detail.escapingControls())\n")
      return nil
    }
  }

  /// - Parameter error: Why it is asked again.
  func ask(_ question: String, error: String?) throws -> Secret {
    let asked = Pinentry.Question(description: "The command coffer asks for this.", prompt: question, error: error)
    do {
      return try pinentry.passphrase(asked, seconds: Self.seconds)
    } catch let error as PinentryError {
      switch error.code {
      case .cancelled: throw Failure.cancelled
      case .timedOut: throw Failure(.locked, "the question at the display was not answered")
      default:
        throw Failure(.locked, error.words, hint: "$\(PinentryProgram.variable) names another one; or --passphrase-fd N")
      }
    }
  }
}
