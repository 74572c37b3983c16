import CLinux
import Glibc

/// File systems where SQLite's write-ahead log must not be used: it needs memory that all its users share, so one machine, and
/// locks and mappings that agree with one another.
package enum FileSystem {
  private static let unsuitable: Set<UInt64> = [
    0x6969,  // NFS
    0x517B, 0xFF53_4D42, 0xFE53_4D42,  // SMB, CIFS, SMB 2
    0x6573_5546,  // FUSE and virtiofs: sshfs, and whatever a host shares with its guest
    0x0102_1997,  // 9P
    0x0BD0_0BD0,  // Lustre
    0x00C3_6400,  // Ceph
    0x5346_414F, 0x6B41_4653,  // AFS, kAFS
    0x7375_7245,  // Coda
    0x0116_1970, 0x7461_636F,  // GFS2, OCFS2: one file system, several machines
    0x4750_4653, 0xAAD7_AAEA,  // GPFS, PanFS
    0x786F_4256, 0xBACB_ACBC,  // the shared folders of VirtualBox and VMware
  ]

  package static func sharesMemory(type: UInt64) -> Bool { !unsuitable.contains(type) }

  /// Whether the write-ahead log works for files in this directory. Unknown means no: the rollback journal works everywhere.
  static func sharesMemory(at directory: String) -> Bool {
    var status = statfs()
    guard unsafe statfs(directory, &status) == 0 else { return false }
    // f_type is a signed word on some architectures, and some magic numbers have the top bit of 32.
    return sharesMemory(type: UInt64(UInt32(truncatingIfNeeded: status.f_type)))
  }
}
