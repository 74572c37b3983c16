internal import Logging

/// Messages for the user in the log of the program; by default on standard error.
enum Diagnostics {
  private static let logger = Logger(label: "coffer.widgets")

  static func notRequested(_ error: WidgetError) {
    logger.error("no new timeline was asked for: \(error.code.name), \(error.detail)")
  }

  static func notShown(_ kind: String, _ error: any Error) {
    logger.error("an entry of \(kind) was not shown: \(error)")
  }

  static func ended(_ error: WidgetError) {
    logger.error("no widgets are shown: \(error.code.name), \(error.detail)")
  }
}
