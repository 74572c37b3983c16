import CofferConsole
import CofferFiles
import Glibc

/// The arguments as the kernel handed them over. `CommandLine.arguments` repairs what is not UTF-8, and a repaired name is another name.
enum RawArguments {
  /// - Throws: where an argument is not valid UTF-8.
  ///
  /// The words of a program that `coffer run` starts are passed on as they are.
  static func check() throws(Failure) {
    let isRun = CommandLine.argc > 1 && CommandLine.arguments[1] == "run"
    for index in 0..<(isRun ? startOfProgram - 1 : Int(CommandLine.argc)) {
      guard let argument = unsafe CommandLine.unsafeArgv[index] else { return }
      guard unsafe String(validatingCString: argument) == nil else { continue }
      throw .usage(
        "argument \(index): not valid UTF-8", hint: "give it in UTF-8; bytes of a secret go in through stdin or --file")
    }
  }

  /// The index of the first word after `--`; behind the last one if there is none.
  private static var startOfProgram: Int {
    let count = Int(CommandLine.argc)
    let mark = (0..<count).first { index in
      guard let word = unsafe CommandLine.unsafeArgv[index] else { return false }
      return unsafe strcmp(word, "--") == 0
    }
    return (mark ?? count) + 1
  }

  /// The words after `--`, byte for byte, as an array that ends with a null pointer. There must be one.
  static var ofProgram: CStrings.Pointers { unsafe CommandLine.unsafeArgv + startOfProgram }
}
