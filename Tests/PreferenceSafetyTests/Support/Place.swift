import Children
import CofferPreferences
import CofferPropertyLists
import Glibc
import Testing

/// A directory for one test with preferences below it, removed after the test.
final class Place {
  let root: String
  var path: String { "\(root)/Preferences-\(round)" }
  private var round = 0
  var directory: PreferenceDirectory { PreferenceDirectory(path) }
  var plist: String { "\(path)/com.example.app.plist" }
  var journal: String { "\(path)/com.example.app.journal" }
  var lock: String { "\(path)/com.example.app.lock" }

  init() {
    var template = Array("/tmp/coffer-safety-XXXXXX".utf8CString)
    precondition(unsafe mkdtemp(&template) != nil)
    root = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  deinit { run("rm", "-rf", root) }

  func domain(_ change: (inout FileDomain.Options) -> Void = { _ in }) throws -> FileDomain {
    var options = FileDomain.Options()
    change(&options)
    return FileDomain(try DomainName("com.example.app"), in: directory, options)
  }

  /// A process that executes commands; see `PreferenceWriter`.
  func writer(_ options: String..., under tracer: [String] = [], commands: [String] = ["-"]) -> Child {
    Child(tracer + [program("PreferenceWriter")] + options + [path] + commands)
  }

  /// The answers of one process to these commands.
  func write(_ commands: String..., under tracer: [String] = []) -> [String] { write(commands, under: tracer) }

  func write(_ commands: [String], under tracer: [String] = []) -> [String] {
    let child = writer(under: tracer, commands: commands)
    child.finishInput()
    let lines = child.lines()
    child.wait()
    return lines
  }

  var names: [String] {
    guard let directory = unsafe opendir(path) else { return [] }
    defer { unsafe closedir(directory) }
    var names: [String] = []
    while let entry = unsafe readdir(directory) {
      let name = unsafe withUnsafeBytes(of: &entry.pointee.d_name) {
        unsafe String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
      }
      if name != ".", name != ".." { names.append(name) }
    }
    return names.sorted()
  }

  /// Starts again in another, empty directory. Not in the same one: if another test has started the `ChangeWatch`, a deallocated
  /// domain with unfinished work would write its values again.
  func clear() {
    for name in names { _ = unsafe unlink("\(path)/\(name)") }
    _ = unsafe rmdir(path)
    round += 1
    _ = unsafe mkdir(path, 0o700)
  }

  /// nil if the file does not exist, or is not a property list.
  func values() -> PropertyListDictionary? {
    guard let bytes = read(plist), case .dictionary(let values)? = try? PropertyList.read(bytes).value else { return nil }
    return values
  }
}

/// nil if the file does not exist.
func read(_ path: String) -> [UInt8]? {
  let file = unsafe open(path, O_RDONLY)
  guard file >= 0 else { return nil }
  defer { close(file) }
  var status = stat()
  unsafe fstat(file, &status)
  var bytes = [UInt8](repeating: 0, count: Int(status.st_size))
  let count = unsafe bytes.withUnsafeMutableBytes { unsafe Glibc.read(file, $0.baseAddress, $0.count) }
  return count == bytes.count ? bytes : nil
}

/// Writes in place, so that the file's identity stays the same.
func write(_ bytes: [UInt8], to path: String) {
  let file = unsafe open(path, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
  precondition(file >= 0)
  defer { close(file) }
  let count = unsafe bytes.withUnsafeBytes { unsafe Glibc.write(file, $0.baseAddress, $0.count) }
  precondition(count == bytes.count)
}

/// The code of the error; nil if none is thrown.
func code(_ body: () throws -> Void) -> PreferenceError.Code? {
  do { try body() } catch { return (error as? PreferenceError)?.code }
  return nil
}

extension PropertyListValue {
  var integer: Int64? { if case .integer(let number) = self { number } else { nil } }
  var text: String? { if case .string(let text) = self { text } else { nil } }
}
