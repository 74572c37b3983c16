import ArgumentParser
import CofferConsole

extension Failure {
  /// An error of the argument parser, in the form of all other errors. Help and version output are not failures.
  init(parsing error: any Error) {
    let lines = Coffer.fullMessage(for: error).split(separator: "\n")
    let usage = lines.first { $0.hasPrefix("Usage: ") }?.dropFirst("Usage: ".count).split(separator: " ") ?? ["coffer"]
    let command = usage.prefix { $0.first?.isLetter == true }.joined(separator: " ")
    let message = Coffer.message(for: error).split(separator: "\n").first.map(String.init) ?? "Not understood"
    let isTooMuch = message.contains("nexpected argument")
    guard !isTooMuch || !["coffer set", "coffer secret set"].contains(command) else {
      self = .usage(
        "arguments: one word too many; it may be a secret, and is not repeated here",
        hint: "\(command) NAME asks for the secret, or reads it from standard input")
      return
    }
    let isOfProgram = ["coffer app run", "coffer app dev", "coffer run"].contains(command) && isTooMuch
    self = .usage(
      "arguments: \(message.prefix(1).lowercased())\(message.dropFirst())",
      hint: isOfProgram ? "the arguments of the program stand after --" : "\(command) --help")
  }
}
