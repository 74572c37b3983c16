internal import Glibc

/// Identifies this machine among those that share a home directory.
public enum HostIdentifier {
  /// The 32 digits of `/etc/machine-id`; on a machine without one, a digest of its name.
  public static let current = read("/etc/machine-id") ?? digest(of: hostName())

  /// Returns nil if the file does not have exactly the format of machine-id(5), because it becomes part of a file name.
  package static func read(_ path: String) -> String? {
    let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    var bytes = [UInt8](repeating: 0, count: 64)
    let count = unsafe bytes.withUnsafeMutableBytes { unsafe Glibc.read(descriptor, $0.baseAddress, $0.count) }
    var text = bytes.prefix(max(0, count))
    if text.last == UInt8(ascii: "\n") { text.removeLast() }
    let isDigit = { (byte: UInt8) in "0123456789abcdef".utf8.contains(byte) }
    guard text.count == 32, text.allSatisfy(isDigit), text.contains(where: { $0 != UInt8(ascii: "0") }) else { return nil }
    return String(decoding: text, as: UTF8.self)
  }

  /// 32 digits: two FNV-1a hashes. Equal in every process, unlike Swift's own hashes.
  package static func digest(of name: String) -> String {
    func fnv(_ seed: UInt64) -> UInt64 { name.utf8.reduce(seed) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 } }
    return [fnv(0xCBF2_9CE4_8422_2325), fnv(0x6295_C58D_62B8_2175)].map { word in
      let digits = String(word, radix: 16)
      return String(repeating: "0", count: 16 - digits.count) + digits
    }.joined()
  }

  private static func hostName() -> String {
    var buffer = [CChar](repeating: 0, count: 256)
    guard unsafe gethostname(&buffer, buffer.count - 1) == 0 else { return "" }
    return String(decoding: buffer.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
  }
}
