internal import CLinux
internal import Glibc

/// Owner and extended attributes, ACLs among them, of a file that takes the place of another.
package enum FileAttributes {
  package static let readOnly = O_RDONLY

  /// - Parameter status: The status of the old file.
  /// - Throws: errors of the system, if the new file cannot get what the old one has. Labels that the kernel gives may differ.
  package static func copy<Failure>(from old: File<Failure>, to new: File<Failure>, _ status: FileStatus) throws(Failure) {
    let made = try new.status()
    if made.owner != status.owner || made.group != status.group {
      guard fchown(new.number, status.owner, status.group) == 0 else { throw Failure(errno: errno, new.path) }
    }
    let kept = try names(of: old).filter(isCopied)
    // The new file may have entries of the default ACL of its directory, which would let users in that the old one keeps out.
    for name in try names(of: new) where isCopied(name) && !kept.contains(name) {
      let removed = unsafe (name + [0]).withUnsafeBytes { name in
        unsafe fremovexattr(new.number, name.baseAddress?.assumingMemoryBound(to: CChar.self))
      }
      guard removed == 0 else { throw Failure(errno: errno, new.path) }
    }
    for name in kept {
      let name = name + [0]
      let value = try value(name, of: old)
      let result = unsafe name.withUnsafeBytes { name in
        unsafe value.withUnsafeBytes { value in
          unsafe fsetxattr(new.number, name.baseAddress?.assumingMemoryBound(to: CChar.self), value.baseAddress, value.count, 0)
        }
      }
      guard result == 0 else { throw Failure(errno: errno, new.path) }
    }
  }

  private static func isCopied(_ name: [UInt8]) -> Bool { !name.starts(with: "security.".utf8) }

  private static func names<Failure>(of file: File<Failure>) throws(Failure) -> [[UInt8]] {
    var list = [UInt8](repeating: 0, count: 1 << 16)
    let count = unsafe list.withUnsafeMutableBytes { buffer in
      unsafe flistxattr(file.number, buffer.baseAddress?.assumingMemoryBound(to: CChar.self), buffer.count)
    }
    guard count >= 0 else {
      // A file system without such attributes.
      if errno == ENOTSUP { return [] }
      throw Failure(errno: errno, file.path)
    }
    return list[..<count].split(separator: 0).map(Array.init)
  }

  /// - Parameter name: With its zero byte.
  private static func value<Failure>(_ name: [UInt8], of file: File<Failure>) throws(Failure) -> [UInt8] {
    var value = [UInt8](repeating: 0, count: 1 << 16)
    let count = unsafe name.withUnsafeBytes { name in
      unsafe value.withUnsafeMutableBytes { buffer in
        unsafe fgetxattr(file.number, name.baseAddress?.assumingMemoryBound(to: CChar.self), buffer.baseAddress, buffer.count)
      }
    }
    guard count >= 0 else { throw Failure(errno: errno, file.path) }
    return Array(value[..<count])
  }
}
