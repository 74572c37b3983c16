import VaultCore

/// How long the columns may be. The format says so; what is longer is refused before it is copied.
enum Limits {
  /// The permitted lengths of a row in `hdr`.
  static func header(_ key: Int64) -> ClosedRange<Int> {
    switch key {
    case 0: 0...256
    case 9: 0...2048
    default: 0...4256
    }
  }

  /// 4096 entries of an identifier and a digest.
  static let node = 0...4096 * 48
  /// Prefixes are at most 2 bytes long, but one that is longer must be seen to be refused.
  static let nodeKey = 0...17
  static let identifier = Identifier.byteCount...Identifier.byteCount
  static let meta = RecordHead.metaByteCount...RecordHead.metaByteCount
  static let digest = RecordHead.digestByteCount...RecordHead.digestByteCount
  static let field = 0...RecordHead.maximumFieldByteCount

  static let rowByteCount = 2 * RecordHead.maximumFieldByteCount + 4096
}
