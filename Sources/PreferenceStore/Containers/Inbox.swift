internal import AppContainers
import CofferFiles
public import Foundation

extension FileManager {
  /// Deletes a file that another app has delivered into `Documents/Inbox`. An app must not create files there, so the directory
  /// is not writable for it, and `removeItem` fails.
  /// - Throws: `CocoaError`: `fileNoSuchFile`; `fileWriteInvalidFileName` if the file is not directly in the Inbox, or if the
  ///   program does not run in an app; `fileWriteUnknown`.
  public func removeDeliveredItem(at url: URL) throws {
    guard let container = ProcessStore.lists.places.container else { throw CocoaError(.fileWriteInvalidFileName) }
    let inbox = container + "/Documents/Inbox"
    guard url.standardizedFileURL.deletingLastPathComponent().path == URL(filePath: inbox).standardizedFileURL.path else {
      throw CocoaError(.fileWriteInvalidFileName, userInfo: [NSURLErrorKey: url])
    }
    do throws(FileError) {
      try AppContainer.removeDelivered(FileName(url.lastPathComponent), from: OpenDirectory.foreign(inbox))
    } catch {
      throw CocoaError(error, url)
    }
  }
}
