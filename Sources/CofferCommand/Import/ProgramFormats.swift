import ArgumentParser
import CofferConsole
import CofferFiles
import ForeignFormats

/// Files in which programs keep tokens.
enum DotenvImport: ForeignTextFormat {
  static let name = "dotenv"
  static let abstract = "Import the variables of an environment file."

  struct Options: ForeignFormatOptions {
    @Option(help: ArgumentHelp("The service of the items, otherwise the name of the file's directory.", valueName: "name"))
    var service: String?
  }

  static func items(of text: SourceText, _ own: Options, from path: String?) throws -> ForeignItems {
    guard let service = own.service ?? path.flatMap(project(ofFileAt:)) else {
      throw Failure.usage("--service: is needed for standard input", hint: "the variables are its accounts")
    }
    try ItemName.check(service, "--service")
    guard !service.isEmpty else { throw Failure.usage("--service: empty") }
    return try DotenvFormat.items(of: text, service: service)
  }

  /// The name of the directory in which a file lies.
  static func project(ofFileAt path: String) -> String? {
    guard let directory = Path.resolved(Path.parent(of: path)) else { return nil }
    let name = Path.name(of: directory)
    return name.isEmpty ? nil : name
  }
}

enum NetrcImport: ForeignTextFormat {
  static let name = "netrc"
  static let abstract = "Import passwords that ftp and curl read."
  static let usualFile: String? = ".netrc"

  static func items(of text: SourceText, _: NoFormatOptions, from _: String?) throws -> ForeignItems {
    try NetrcFormat.items(of: text)
  }
}

enum GitCredentialsImport: ForeignTextFormat {
  static let name = "git-credentials"
  static let abstract = "Import the passwords of git's own store."
  static let usualFile: String? = ".git-credentials"

  static func items(of text: SourceText, _: NoFormatOptions, from _: String?) throws -> ForeignItems {
    try GitCredentialsFormat.items(of: text)
  }
}

enum DockerImport: ForeignTextFormat {
  static let name = "docker"
  static let abstract = "Import the credentials of docker login."
  static let usualFile: String? = ".docker/config.json"

  static func items(of text: SourceText, _: NoFormatOptions, from _: String?) throws -> ForeignItems {
    try DockerFormat.items(of: text)
  }
}

enum NpmrcImport: ForeignTextFormat {
  static let name = "npmrc"
  static let abstract = "Import the tokens of npm."
  static let usualFile: String? = ".npmrc"

  static func items(of text: SourceText, _: NoFormatOptions, from _: String?) throws -> ForeignItems {
    try NpmrcFormat.items(of: text)
  }
}

enum PypircImport: ForeignTextFormat {
  static let name = "pypirc"
  static let abstract = "Import the tokens of twine and other programs of Python."
  static let usualFile: String? = ".pypirc"

  static func items(of text: SourceText, _: NoFormatOptions, from _: String?) throws -> ForeignItems {
    try PypircFormat.items(of: text)
  }
}

enum AWSImport: ForeignTextFormat {
  static let name = "aws"
  static let abstract = "Import the access keys of AWS."
  static let usualFile: String? = ".aws/credentials"

  static func items(of text: SourceText, _: NoFormatOptions, from _: String?) throws -> ForeignItems {
    try AWSFormat.items(of: text)
  }
}
