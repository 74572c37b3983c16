import ArgumentParser
import CofferConsole
import ForeignFormats

/// A format of `coffer import`.
protocol ForeignFormat {
  static var name: String { get }
  static var abstract: String { get }
  /// The file, if none is named. nil: one must be.
  static var usualFile: String? { get }

  /// - Parameter service: of `--service`, or what stands for it.
  /// - Throws: `ForeignError`; `TextError`.
  static func items(of text: SourceText, service: String?) throws -> ForeignItems
}

/// The formats of files in which programs keep tokens.
enum DotenvImport: ForeignFormat {
  static let name = "dotenv"
  static let abstract = "Import the variables of an environment file."
  static let usualFile: String? = nil

  static func items(of text: SourceText, service: String?) throws -> ForeignItems {
    guard let service else {
      throw Failure.usage("--service: is needed for standard input", hint: "the variables are its accounts")
    }
    return try DotenvFormat.items(of: text, service: service)
  }
}

enum NetrcImport: ForeignFormat {
  static let name = "netrc"
  static let abstract = "Import passwords that ftp and curl read."
  static let usualFile: String? = ".netrc"

  static func items(of text: SourceText, service: String?) throws -> ForeignItems { try NetrcFormat.items(of: text) }
}

enum GitCredentialsImport: ForeignFormat {
  static let name = "git-credentials"
  static let abstract = "Import the passwords of git's own store."
  static let usualFile: String? = ".git-credentials"

  static func items(of text: SourceText, service: String?) throws -> ForeignItems { try GitCredentialsFormat.items(of: text) }
}

enum DockerImport: ForeignFormat {
  static let name = "docker"
  static let abstract = "Import the credentials of docker login."
  static let usualFile: String? = ".docker/config.json"

  static func items(of text: SourceText, service: String?) throws -> ForeignItems { try DockerFormat.items(of: text) }
}

enum NpmrcImport: ForeignFormat {
  static let name = "npmrc"
  static let abstract = "Import the tokens of npm."
  static let usualFile: String? = ".npmrc"

  static func items(of text: SourceText, service: String?) throws -> ForeignItems { try NpmrcFormat.items(of: text) }
}

enum PypircImport: ForeignFormat {
  static let name = "pypirc"
  static let abstract = "Import the tokens of twine and other programs of Python."
  static let usualFile: String? = ".pypirc"

  static func items(of text: SourceText, service: String?) throws -> ForeignItems { try PypircFormat.items(of: text) }
}

enum AWSImport: ForeignFormat {
  static let name = "aws"
  static let abstract = "Import the access keys of AWS."
  static let usualFile: String? = ".aws/credentials"

  static func items(of text: SourceText, service: String?) throws -> ForeignItems { try AWSFormat.items(of: text) }
}
