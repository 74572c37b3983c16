internal import CLinux
internal import CofferFiles
internal import Glibc

/// A file descriptor that is read or written with the plain calls, so that no buffer of a library keeps a copy.
package struct Descriptor: Sendable {
  package let number: Int32
  /// For messages.
  package let name: String
  /// For a pipe that may have no writer yet: how long a read waits for one, in milliseconds.
  private let patience: Int32?

  package init(number: Int32, name: String) { self.init(number, name, patience: nil) }

  private init(_ number: Int32, _ name: String, patience: Int32?) {
    (self.number, self.name, self.patience) = (number, name, patience)
  }

  package static let input = Descriptor(number: STDIN_FILENO, name: "standard input")
  package static let output = Descriptor(number: STDOUT_FILENO, name: "standard output")
  package static let error = Descriptor(number: STDERR_FILENO, name: "standard error")

  /// A descriptor that the caller named in an option.
  /// - Parameter isOutput: Whether it is to be written.
  /// - Throws: usage, where it is not open.
  package static func given(_ number: Int32, by option: String, isOutput: Bool = false) throws(Failure) -> Descriptor {
    let descriptor = Descriptor(number: number, name: "descriptor \(number)")
    guard descriptor.isOpen else {
      let redirection = isOutput ? ">" : "<"
      throw .usage(
        "\(option) \(number): the descriptor is not open", hint: "open it in the shell: \(option) 3 3\(redirection)FILE")
    }
    return descriptor
  }

  package var isOpen: Bool { fcntl(number, F_GETFD) >= 0 }

  /// Not so for a standard input that was closed.
  package var isReadable: Bool {
    let mode = fcntl(number, F_GETFL)
    return mode >= 0 && mode & O_ACCMODE != O_WRONLY
  }

  package var isTerminal: Bool { isatty(number) == 1 }

  /// Discards input that was typed before a question. Does nothing if the descriptor is no terminal.
  package func discardTypedAhead() { tcflush(number, TCIFLUSH) }

  /// Opens a file for reading. Also /dev/fd/N and named pipes.
  /// - Parameter patience: How long a read waits for a program that opens a pipe for writing, in milliseconds. Then the pipe is empty.
  package static func open(_ path: String, patience: Int32 = 10_000) throws -> Descriptor {
    let number = unsafe Glibc.open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK)
    guard number >= 0 else { throw SystemError.last.failure(path) }
    var status = stat()
    let kind = unsafe fstat(number, &status) == 0 ? status.st_mode & S_IFMT : S_IFREG
    if kind == S_IFDIR {
      Glibc.close(number)
      throw Failure(.inputOutput, "\(path): is a directory")
    }
    return Descriptor(number, path, patience: kind == S_IFIFO ? patience : nil)
  }

  /// Opens what must be a file with an end: nothing is waited for, and no device is read.
  /// - Throws: I/O, for anything else.
  package static func openFile(_ path: String) throws -> Descriptor {
    let number = unsafe Glibc.open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK)
    guard number >= 0 else { throw SystemError.last.failure(path) }
    var status = stat()
    guard unsafe fstat(number, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
      Glibc.close(number)
      throw Failure(.inputOutput, "\(path): is not a file", hint: "a directory, a pipe or a device is not one")
    }
    return Descriptor(number: number, name: path)
  }

  /// A new file for this user alone, whatever the umask says.
  /// - Throws: duplicate, if the path exists; I/O.
  package static func create(_ path: String) throws -> Descriptor {
    let number = unsafe Glibc.open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
    guard number >= 0 else {
      guard errno == EEXIST else { throw SystemError.last.failure(path) }
      throw Failure(.duplicate, "\(path): there is such a file already", hint: "nothing is replaced: name another file")
    }
    fchmod(number, 0o600)
    return Descriptor(number: number, name: path)
  }

  /// Does nothing for a pipe, a terminal or another device that is not synced.
  /// - Throws: I/O: what was written is not on the disk.
  package func synchronize() throws {
    guard fsync(number) == 0 || errno == EINVAL || errno == EROFS else { throw SystemError.last.failure(name) }
  }

  /// - Throws: as `synchronize`.
  package func synchronizeAndClose() throws {
    try synchronize()
    close()
  }

  package static func remove(_ path: String) { unsafe unlink(path) }

  package func close() {
    _ = Glibc.close(number)
  }

  /// Some bytes, or 0 at the end.
  package func read(into bytes: UnsafeMutableRawBufferPointer) throws -> Int {
    if let patience { try wait(for: POLLIN, milliseconds: patience) }
    while true {
      // A pipe returns 0 if no program has it open for writing, and EAGAIN if one has.
      let count = unsafe Glibc.read(number, bytes.baseAddress, bytes.count)
      if count >= 0 { return count }
      switch errno {
      case EINTR: continue
      case EAGAIN: try wait(for: POLLIN)
      default: throw SystemError.last.failure(name)
      }
    }
  }

  /// All bytes. If standard output has no reader any more, the process dies of SIGPIPE, as other programs in a pipeline do.
  /// - Throws: I/O; for other descriptors a reader that has gone away is an error too.
  package func write(_ bytes: RawSpan) throws {
    HiddenTerminal.clearNotice()
    try unsafe bytes.withUnsafeBytes { buffer in
      var written = 0
      while written < buffer.count {
        let rest = unsafe UnsafeRawBufferPointer(rebasing: buffer[written...])
        let count = unsafe Glibc.write(number, rest.baseAddress, rest.count)
        if count >= 0 {
          written += count
        } else if errno == EAGAIN {
          try wait(for: POLLOUT)
        } else if errno != EINTR {
          if errno == EPIPE, number == STDOUT_FILENO { Self.dieOfClosedPipe() }
          throw Failure(.inputOutput, "\(name): \(SystemError.last.text)")
        }
      }
    }
  }

  private static func dieOfClosedPipe() {
    HiddenTerminal.restore()
    coffer_signal_default(SIGPIPE)
    raise(SIGPIPE)
  }

  package func write(_ text: String) throws {
    var text = text
    try text.withUTF8 { try write(unsafe RawSpan(_unsafeElements: $0)) }
  }

  /// A word beside the result, for which nothing fails.
  package func note(_ text: String) {
    try? write(text)
  }

  private func wait(for event: Int32, milliseconds: Int32 = -1) throws {
    var entry = pollfd(fd: number, events: Int16(event), revents: 0)
    guard unsafe poll(&entry, 1, milliseconds) >= 0 || errno == EINTR else { throw SystemError.last.failure(name) }
  }

  /// Everything up to the end of what is not a secret.
  /// - Throws: usage, if there are more than `limit` bytes.
  package func contents(limit: Int) throws -> [UInt8] {
    var bytes: [UInt8] = []
    var room = [UInt8](repeating: 0, count: 1 << 16)
    while true {
      let count = unsafe try room.withUnsafeMutableBytes { unsafe try read(into: $0) }
      if count == 0 { return bytes }
      bytes += room[..<count]
      guard bytes.count <= limit else { throw Failure.usage("\(name): more than \(limit) bytes") }
    }
  }
}
