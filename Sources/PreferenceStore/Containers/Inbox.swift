internal import AppContainers
public import Foundation

extension FileManager {
  /// Deletes what another app has delivered into `Documents/Inbox`. An app may not make files in there, so the directory takes away the
  /// right to write, and `removeItem` is refused.
  /// - Throws: `CocoaError`: `fileNoSuchFile`; `fileWriteInvalidFileName` for what does not lie right in the Inbox, and where the program
  ///   is none of an app; `fileWriteUnknown`.
  public func removeDeliveredItem(at url: URL) throws {
    guard let container = ProcessStore.lists.places.container else { throw CocoaError(.fileWriteInvalidFileName) }
    let inbox = container + "/Documents/Inbox"
    guard url.standardizedFileURL.deletingLastPathComponent().path == URL(filePath: inbox).standardizedFileURL.path else {
      throw CocoaError(.fileWriteInvalidFileName, userInfo: [NSURLErrorKey: url])
    }
    do throws(ContainerError) {
      try AppContainer.removeDelivered(FileName(url.lastPathComponent), from: OpenDirectory.foreign(inbox))
    } catch {
      throw CocoaError(error, url)
    }
  }
}
