public import Foundation

/// The output of a host.
public protocol WidgetRenderer: Sendable {
  /// Called at the date of the entry, in order, never concurrently.
  func show(_ text: String, of kind: String, date: Date) throws
}

/// Writes each line of a text as a line with the kind, a tab and the text to an open file; by default standard output.
public struct LineRenderer: WidgetRenderer {
  private let file: FileHandle

  public init(file: FileHandle = .standardOutput) { self.file = file }

  public func show(_ text: String, of kind: String, date: Date) throws {
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false).map { "\(kind)\t\($0)\n" }
    try file.write(contentsOf: Data(lines.joined().utf8))
  }
}
