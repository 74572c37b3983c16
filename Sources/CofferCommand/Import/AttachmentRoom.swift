import ForeignFormats
import ProgramSecrets
import SecretMemory

/// The attached files of one import have as much together as its file may have. An archive of some kilobytes may name a file of 1 MiB ten
/// thousand times, and all of them would lie in memory at once.
struct AttachmentRoom {
  private var left = SourceText.maximumByteCount
  /// Locked memory is taken by pages, and each file is another program to start.
  private static let leastByteCount = 4096

  /// - Parameter fetch: Gets the file; nil if it is not there.
  /// - Returns: nil if it is a lost part.
  /// - Throws: as `fetch`, but for a file that is too large.
  mutating func content(
    named name: String, line: Int, _ lost: inout [LostPart], _ fetch: () throws -> HeldSecret?
  ) throws -> HeldSecret? {
    guard left > 0 else {
      lost.append(LostPart(line: line, what: name, .filesTooLarge))
      return nil
    }
    left -= Self.leastByteCount
    do {
      guard let content = try fetch() else {
        lost.append(LostPart(line: line, what: name, .fileMissing))
        return nil
      }
      left -= content.count
      return content
    } catch let error as VaultError where error.code == .secretTooLarge {
      lost.append(LostPart(line: line, what: name, .tooLarge))
      return nil
    }
  }
}
