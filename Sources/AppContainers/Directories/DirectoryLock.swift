internal import Glibc
internal import SystemCalls

/// One process at a time in a directory: a lock on the file `.lock` in it, which the kernel takes back when the process dies.
package final class DirectoryLock: Sendable {
  /// Whoever has it copies executables and waits for the vault's writers.
  package static let patience = 10_000

  private let number: Int32

  /// - Throws: `busy`; what the system says.
  package init(of directory: OpenDirectory, milliseconds: Int = patience) throws(ContainerError) {
    let name = FileName(constant: ".lock")
    let opened = retrying {
      unsafe openat(directory.number, name.terminated, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, 0o600)
    }
    guard opened.result >= 0 else { throw ContainerError(errno: opened.errno, directory.below(name)) }
    number = opened.result
    var waited = 0
    while true {
      let taken = retrying { flock(opened.result, LOCK_EX | LOCK_NB) }
      if taken.result == 0 { return }
      guard taken.errno == EWOULDBLOCK, waited < milliseconds else {
        throw taken.errno == EWOULDBLOCK
          ? ContainerError(.busy, "another process is at work in \(directory.path)")
          : ContainerError(errno: taken.errno, directory.below(name))
      }
      usleep(20_000)
      waited += 20
    }
  }

  deinit { close(number) }
}
