public import Foundation

/// The output of a host.
public protocol WidgetRenderer: Sendable {
  /// Called at the date of the entry, in order, never concurrently.
  /// - Throws: An error ends the host.
  func show(_ text: String, of kind: String, date: Date) throws
}

/// Writes each line of a text as a line with the kind, a tab and the text to an open file; by default standard output.
public struct LineRenderer: WidgetRenderer {
  private let file: FileHandle

  /// Writes to `file`.
  public init(file: FileHandle = .standardOutput) { self.file = file }

  /// Writes a line for each line of the text: the kind, a tab, the line.
  /// - Throws: The error of the file, such as that the reader of a pipe has ended.
  public func show(_ text: String, of kind: String, date: Date) throws {
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false).map { "\(kind)\t\($0)\n" }
    try file.write(contentsOf: Data(lines.joined().utf8))
  }
}
