import CofferConsole

/// The arguments as the kernel handed them over. `CommandLine.arguments` repairs what is not UTF-8, and a repaired name is another name.
enum RawArguments {
  /// - Throws: where an argument is not valid UTF-8.
  static func check() throws(Failure) {
    for index in 0..<Int(CommandLine.argc) {
      guard let argument = unsafe CommandLine.unsafeArgv[index] else { return }
      guard unsafe String(validatingCString: argument) == nil else { continue }
      throw .usage(
        "argument \(index): not valid UTF-8", hint: "give it in UTF-8; bytes of a secret go in through stdin or --file")
    }
  }
}
