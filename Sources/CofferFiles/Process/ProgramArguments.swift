internal import CLinux
internal import Glibc

/// The arguments of this program.
package enum ProgramArguments {
  /// Ends the program if its arguments cannot be read, before it takes an empty list for a request to print help, and reports success.
  ///
  /// Swift finds them through `/proc/self/maps`, and takes an error there for an empty list. The kernel starts no program without
  /// its name.
  package static func check() {
    guard CommandLine.argc == 0 else { return }
    let name = unsafe String(cString: coffer_program_name())
    let text = Array("\(name): its arguments cannot be read from /proc: is it mounted?\n".utf8)
    _ = unsafe text.withUnsafeBytes { unsafe write(STDERR_FILENO, $0.baseAddress, $0.count) }
    exit(1)
  }
}
