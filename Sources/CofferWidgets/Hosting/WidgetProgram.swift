internal import Foundation

/// A program that only shows widgets.
enum WidgetProgram {
  static func run(_ widgets: [ConfiguredWidget]) async {
    do throws(WidgetError) {
      try await WidgetHost(widgets, renderer: LineRenderer()).run()
    } catch {
      let name = ProcessInfo.processInfo.processName
      FileHandle.standardError.write(Data("\(name): no widgets are shown: \(error.code.name): \(error.detail)\n".utf8))
      exit(1)
    }
  }
}
