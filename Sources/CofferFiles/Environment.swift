internal import CLinux
internal import Glibc

/// The variables of this process.
///
/// In a program with more rights than its caller has (set-user-ID, or with capabilities of its file), no variable is read, as with
/// secure_getenv(3): the caller would choose the files and programs that such a program uses.
package enum Environment {
  /// Whether the kernel set AT_SECURE when it started the program.
  package static var isElevated: Bool { coffer_is_elevated() != 0 }

  /// Returns nil if the variable is not set or empty, and for every variable if `isElevated`.
  package static subscript(name: String) -> String? {
    guard !isElevated, let value = unsafe getenv(name), unsafe value[0] != 0 else { return nil }
    return unsafe String(cString: value)
  }
}
