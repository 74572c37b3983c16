/// File systems on which several machines may look at one file: their mappings and locks do not agree with one another, so what needs
/// memory that all its users share does not work there.
package enum SharedFileSystem {
  private static let types: Set<UInt32> = [
    0x6969,  // NFS
    0x517B, 0xFF53_4D42, 0xFE53_4D42,  // SMB, CIFS, SMB 2
    0x6573_5546,  // FUSE and virtiofs: sshfs, and whatever a host shares with its guest
    0x0102_1997,  // 9P
    0x0BD0_0BD0,  // Lustre
    0x00C3_6400,  // Ceph
    0x5346_414F, 0x6B41_4653,  // AFS, kAFS
    0x7375_7245,  // Coda
    0x0116_1970, 0x7461_636F,  // GFS2, OCFS2: one file system, several machines
    0x4750_4653, 0xAAD7_AAEA, 0x0131_11A8,  // GPFS, PanFS, IBRIX
    0x786F_4256, 0xBACB_ACBC,  // the shared folders of VirtualBox and VMware
  ]

  /// - Parameter type: `f_type` of statfs(2), as in linux/magic.h. It is a signed word on some architectures, and some of these numbers
  ///   have the top bit of 32.
  package static func contains(type: UInt32) -> Bool { types.contains(type) }
}
