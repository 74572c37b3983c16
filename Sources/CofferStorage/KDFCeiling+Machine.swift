internal import Glibc
public import VaultCore

extension KDFCeiling {
  /// The most that a vault file may make this machine spend: `standard`, with at most half of the memory.
  public static var ofThisMachine: KDFCeiling {
    var ceiling = KDFCeiling.standard
    let half = sysconf(Int32(_SC_PHYS_PAGES)) / 2 * (sysconf(Int32(_SC_PAGESIZE)) / 1024)
    if half > 0 { ceiling.memoryKiB = min(ceiling.memoryKiB, UInt32(clamping: half)) }
    return ceiling
  }
}
