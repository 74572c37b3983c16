import CLinux
import CofferConsole
import CofferFiles
import Glibc

/// A program that `coffer run` starts, found as by execvp(3).
struct ProgramFile {
  /// Ends with a zero byte.
  private let path: [CChar]
  /// For messages.
  let name: String

  private static let standardPath = Array("/bin:/usr/bin".utf8)

  /// - Parameters:
  ///   - name: A name that is looked for in `path`, or with a slash the path of a file.
  ///   - path: The directories, with colons in between; nil: those of the system.
  /// - Throws: `SystemError`.
  init(_ name: UnsafePointer<CChar>, in path: [UInt8]?) throws(SystemError) {
    let word = unsafe [UInt8](UnsafeRawBufferPointer(start: name, count: strlen(name)))
    self.name = String(decoding: word, as: UTF8.self)
    guard !word.contains(UInt8(ascii: "/")) else {
      let error = Self.error(of: word)
      guard error == 0 else { throw SystemError(number: error) }
      self.path = Self.terminated(word)
      return
    }
    var refusal = ENOENT
    for directory in (path ?? Self.standardPath).split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false) {
      let file = (directory.isEmpty ? [UInt8(ascii: ".")] : Array(directory)) + [UInt8(ascii: "/")] + word
      let error = word.isEmpty ? ENOENT : Self.error(of: file)
      if error == 0 {
        self.path = Self.terminated(file)
        return
      }
      // A file further on in the path counts, but if there is none, this is the reason.
      if error == EACCES { refusal = EACCES }
    }
    throw SystemError(number: refusal)
  }

  /// One that was found before.
  init(at path: UnsafePointer<CChar>) {
    let word = unsafe [UInt8](UnsafeRawBufferPointer(start: path, count: strlen(path)))
    self.path = Self.terminated(word)
    name = String(decoding: word, as: UTF8.self)
  }

  /// - Parameter body: gets the path.
  func withPath<Result>(_ body: (UnsafePointer<CChar>) -> Result) -> Result {
    unsafe path.withUnsafeBufferPointer { unsafe body($0.baseAddress!) }
  }

  private static func terminated(_ bytes: [UInt8]) -> [CChar] { (bytes + [0]).map { CChar(bitPattern: $0) } }

  /// 0 for a file that may be executed.
  private static func error(of file: [UInt8]) -> Int32 {
    let file = terminated(file)
    var status = stat()
    guard unsafe stat(file, &status) == 0 else { return errno }
    guard status.st_mode & S_IFMT == S_IFREG else { return EACCES }
    return unsafe access(file, X_OK) == 0 ? 0 : errno
  }

  /// Calls `start` with the file and its words; if the kernel does not know its format, with the shell, which reads it as a script.
  /// - Parameter start: Returns an errno.
  private func withShell(_ words: CStrings.Pointers, _ start: (UnsafePointer<CChar>, CStrings.Pointers) -> Int32) -> Int32 {
    let error = unsafe path.withUnsafeBufferPointer { unsafe start($0.baseAddress!, words) }
    guard error == ENOEXEC else { return error }
    var path = path
    return unsafe path.withUnsafeMutableBufferPointer { file in
      var script: [UnsafeMutablePointer<CChar>?] = unsafe []
      var shell = Array("/bin/sh".utf8CString)
      return unsafe shell.withUnsafeMutableBufferPointer { shell in
        unsafe script += [shell.baseAddress, file.baseAddress]
        var next = unsafe words
        while let word = unsafe next[0] {
          if unsafe next != words { unsafe script.append(word) }
          unsafe next += 1
        }
        unsafe script.append(nil)
        return unsafe script.withUnsafeMutableBufferPointer { unsafe start(shell.baseAddress!, $0.baseAddress!) }
      }
    }
  }

  /// This process becomes the program.
  /// - Returns: why it could not.
  func become(_ words: CStrings.Pointers, _ variables: CStrings.Pointers) -> SystemError {
    HiddenTerminal.restore()
    Hardening.end()
    return SystemError(
      number: unsafe withShell(words) { file, words in
        unsafe execve(file, words, variables)
        return errno
      })
  }

  /// Starts it beside this process.
  /// - Returns: the process, and 0; or the errno.
  func start(
    _ program: ChildProgram, _ words: CStrings.Pointers, _ variables: CStrings.Pointers
  ) -> (process: pid_t, errno: Int32) {
    HiddenTerminal.restore()
    Hardening.end()
    defer { Hardening.begin(startsPrograms: true) }
    var process: pid_t = 0
    let error = unsafe withShell(words) { file, words in
      let started = unsafe program.start(file, words, variables)
      process = started.process
      return started.errno
    }
    return (process, error)
  }
}
