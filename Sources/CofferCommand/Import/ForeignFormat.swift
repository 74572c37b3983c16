import ArgumentParser
import CofferConsole
import ForeignFormats
import ProgramSecrets

/// A format of `coffer import`.
protocol ForeignFormat {
  associatedtype Options: ForeignFormatOptions = NoFormatOptions
  static var name: String { get }
  static var abstract: String { get }

  /// The items to import, and the name of their source for messages. Neither a vault nor an agent is open.
  static func found(by shared: ForeignImportOptions, _ own: Options) throws -> (items: ForeignItems, source: String)
}

/// Options that one format alone has.
protocol ForeignFormatOptions: ParsableArguments {
  /// Whether folders become groups.
  var isGrouping: Bool { get }
}

extension ForeignFormatOptions {
  var isGrouping: Bool { false }
}

struct NoFormatOptions: ForeignFormatOptions {}

struct FolderOptions: ForeignFormatOptions {
  @Flag(name: .customLong("groups"), help: "Put the items of each folder into a group of its name.")
  var isGrouping = false
}

/// A format whose file is a text that is read here.
protocol ForeignTextFormat: ForeignFormat {
  /// In the home directory, if no file is named. nil: one must be.
  static var usualFile: String? { get }

  /// - Parameter path: of the file; nil for standard input.
  /// - Throws: `ForeignError`; `TextError`.
  static func items(of text: SourceText, _ own: Options, from path: String?) throws -> ForeignItems
}

extension ForeignTextFormat {
  static var usualFile: String? { nil }

  static func found(by shared: ForeignImportOptions, _ own: Options) throws -> (items: ForeignItems, source: String) {
    let source = try shared.open(usualFile: usualFile)
    // The file is read to its end before a vault or an agent is open here: what a hostile file does to a parser meets no key.
    let text = try SourceText.reading(source)
    return (try text.located(in: source.name) { try items(of: text, own, from: shared.path) }, source.name)
  }
}

extension SourceText {
  /// Everything up to the end of `descriptor`, straight into locked memory.
  static func reading(_ descriptor: Descriptor) throws -> SourceText {
    do {
      return try unsafe SourceText { try unsafe descriptor.read(into: $0) }
    } catch let error as ForeignError {
      throw Failure(error, about: "\(descriptor.name):\(error.line)")
    }
  }

  /// Names file and line in the errors of a parser.
  func located<Result>(in file: String, _ body: () throws -> Result) throws -> Result {
    do {
      return try body()
    } catch let error as TextError {
      throw Failure(error, about: "\(file):\(line(of: error.offset))")
    } catch let error as ForeignError {
      throw Failure(error, about: "\(file):\(error.line)")
    }
  }
}

/// All formats, in the order of `coffer import --help`.
enum ForeignFormatList {
  private static var formats: [any ForeignFormat.Type] {
    [
      DotenvImport.self, NetrcImport.self, GitCredentialsImport.self, DockerImport.self, NpmrcImport.self, PypircImport.self,
      AWSImport.self, CSVImport.self, ChromeImport.self, FirefoxImport.self, AppleImport.self,
      BitwardenImport.self, OnePasswordImport.self, PassImport.self, KeePassImport.self,
    ]
  }

  static var commands: [any ParsableCommand.Type] {
    func command<Format: ForeignFormat>(_: Format.Type) -> any ParsableCommand.Type { ImportForeign<Format>.self }
    return formats.map { command($0) }
  }
}
