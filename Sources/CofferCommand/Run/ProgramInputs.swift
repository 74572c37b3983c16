import CLinux
import CofferConsole
import CofferFiles
import Glibc
import ProgramSecrets
import SecretMemory

/// All that a program gets: its variables, and files with secrets. Later ones replace earlier ones of the same name: the variables of this
/// process, those of files, `--set`, `--file`, `--path`.
struct ProgramInputs {
  private struct NamedReference {
    let name: String
    let reference: String
  }

  private(set) var environment: ProgramEnvironment
  private let files: [NamedReference]
  private let given: [NamedReference]
  private let standardInput: String?

  /// The names of the variables that get paths of files in a directory.
  var paths: [String] { given.map(\.name) }

  private static let longestFile = 1 << 20

  init(_ command: RunCommand) throws {
    files = try command.file.map { try Self.named($0, "--file") }
    given = try command.path.map { try Self.named($0, "--path") }
    standardInput = command.stdin
    environment = try about("variables") { try ProgramEnvironment(ProgramEnvironment.inherited) }
    for path in command.envFile { try read(path) }
    for assignment in command.set {
      let (name, value) = try Self.parts(assignment, "--set")
      try about("--set \(name)") { environment.set(name, to: try SecretText(value: Array(value.utf8))) }
    }
    // A variable that is replaced is not looked up.
    for file in files + given { environment.set(file.name, to: SecretText(plain: [])) }
  }

  private mutating func read(_ path: String) throws {
    let file = try Descriptor.open(path)
    defer { file.close() }
    let bytes = try file.contents(limit: Self.longestFile)
    do {
      for assignment in try EnvironmentFile(bytes).assignments { environment.set(assignment.name, to: assignment.value) }
    } catch {
      throw Failure(error, about: "\(path):\(TextPosition(error.offset, in: bytes).line)")
    }
  }

  private static func parts(_ text: String, _ option: String) throws(Failure) -> (name: String, value: String) {
    guard let mark = text.firstIndex(of: "="), mark != text.startIndex else {
      throw .usage("\(option): a name and = are needed", hint: "\(option) NAME=\(option == "--set" ? "VALUE" : "REFERENCE")")
    }
    return (String(text[..<mark]), String(text[text.index(after: mark)...]))
  }

  private static func named(_ text: String, _ option: String) throws(Failure) -> NamedReference {
    let (name, reference) = try parts(text, option)
    guard VariableName.isIdentifier(name) else {
      throw .usage("\(option) \(name): a name has letters, digits and _, and begins with no digit")
    }
    return NamedReference(name: name, reference: reference)
  }

  /// The references, in the order in which they are looked up.
  var wanted: [ReferencedSecrets.Wanted] {
    var wanted = environment.variables.flatMap { variable in
      variable.text.placeholders.map {
        ReferencedSecrets.Wanted(place: String(decoding: variable.name, as: UTF8.self), reference: $0.reference)
      }
    }
    for file in files + given { wanted.append(.init(place: file.name, reference: file.reference)) }
    if let standardInput { wanted.append(.init(place: "--stdin", reference: standardInput)) }
    return wanted
  }

  /// Makes the files in memory, and standard input.
  /// - Returns: The descriptors, which the program inherits.
  mutating func makeFiles(_ values: ReferencedSecrets) throws -> [HeldDescriptor] {
    var held: [HeldDescriptor] = []
    for file in files {
      let made = HeldDescriptor(try SealedFile.make(of: values[file.reference].secret, named: "--file \(file.name)"))
      _ = fcntl(made.number, F_SETFD, 0)
      environment.set(file.name, to: SecretText(plain: Array("/proc/self/fd/\(made.number)".utf8)))
      held.append(made)
    }
    if let standardInput {
      let made = try SealedFile.make(of: values[standardInput].secret, named: "--stdin")
      guard dup2(made.number, STDIN_FILENO) >= 0 else { throw SystemError.last.failure("--stdin") }
      Hardening.keep(STDIN_FILENO)
    }
    return held
  }

  /// Writes the files of a directory, and sets their variables.
  mutating func write(_ values: ReferencedSecrets, into directory: borrowing ScratchDirectory) throws {
    for file in given {
      try directory.write(values[file.reference].secret, named: file.name)
      environment.set(file.name, to: SecretText(plain: Array(directory.filePath(file.name).utf8)))
    }
  }

  /// The secrets that the program gets, for its output. A note is printed for each that is not searched for.
  /// - Returns: nil if there is none.
  func concealed(_ values: ReferencedSecrets) throws -> ConcealedSecrets? {
    let concealed = try ConcealedSecrets()
    var given = try environment.secrets { try values[$0] }
    for file in files + self.given { given.append((file.name, file.reference, try values[file.reference])) }
    if let standardInput { given.append(("stdin", standardInput, try values[standardInput])) }
    for secret in given where !values.isAttribute(secret.reference) {
      let name = secret.name.escapingControls()
      switch concealed.add(secret.held, named: name) {
      case .tooShort(let count):
        Descriptor.error.note("note: \(name): too short to be concealed in the output (\(counted(count, "byte")))\n")
      case .ordinary: Descriptor.error.note("note: \(name): an ordinary word, which is not concealed in the output\n")
      case nil: break
      }
    }
    try concealed.prepare()
    return concealed.isEmpty ? nil : concealed
  }

  func block(_ values: ReferencedSecrets) throws -> EnvironmentBlock {
    try environment.block {
      try values[$0]
    } failure: { name, error in
      Failure(error, about: name)
    }
  }
}

/// A descriptor in a list.
final class HeldDescriptor {
  private let owned: OwnedDescriptor
  var number: Int32 { owned.number }

  init(_ owned: consuming OwnedDescriptor) { self.owned = owned }
}

/// A program that was found and could not be started.
struct NotStarted: Error {
  let error: SystemError
}
