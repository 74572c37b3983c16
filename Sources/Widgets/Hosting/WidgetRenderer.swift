public import Foundation

/// Where a widget is shown.
public protocol WidgetRenderer: Sendable {
  /// Called when the date of the entry has come; in the order of what is shown, never at the same time.
  func show(_ text: String, of kind: String, date: Date) throws
}

/// Writes each line of a text as a line of the kind, a tab and the text, to an open file: standard output by default.
public struct LineRenderer: WidgetRenderer {
  private let file: FileHandle

  public init(file: FileHandle = .standardOutput) { self.file = file }

  public func show(_ text: String, of kind: String, date: Date) throws {
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false).map { "\(kind)\t\($0)\n" }
    try file.write(contentsOf: Data(lines.joined().utf8))
  }
}
