import AppContainers
import CofferConsole
import CofferFiles
import UnitCredentials

/// The file by which the session's bus finds the program that serves the Secret Service. Files of the user precede those of packages.
struct ActivationFile {
  enum State: String {
    case absent = "disabled"
    case own = "enabled"
    /// `coffer bus enable` of another installation has written it.
    case otherInstallation = "enabled for another installation"
    case foreign = "another program's file"
  }

  private static let directory = "dbus-1/services"
  private static let name = "org.freedesktop.secrets.service"
  private static let mark = "# Written by coffer bus enable; coffer bus disable removes it.\n"
  /// More than the longest path, several times.
  private static let limit = 1 << 16

  private let file: SystemFile
  var path: String { file.path }

  init() throws {
    let data = try about("the home directory") { try UserDirectories(environment: { Environment[$0] }).sharedData() }
    file = SystemFile(directory: Path.join(data, Self.directory), name: Self.name)
  }

  /// - Parameter program: The path of `coffer-secrets`.
  func state(for program: String) throws -> State {
    guard try about(path, { try Files<FileError>.status(at: path, followingLinks: true) }) != nil else { return .absent }
    let descriptor = try Descriptor.openFile(path)
    defer { descriptor.close() }
    let text = String(decoding: try descriptor.contents(limit: Self.limit), as: UTF8.self)
    guard text.hasPrefix(Self.mark) else { return .foreign }
    return try text == Self.content(program) ? .own : .otherInstallation
  }

  func write(for program: String) throws { try file.write(Self.content(program)) }

  func remove() throws -> Bool { try file.remove() }

  var isForeign: Failure {
    Failure(.duplicate, "\(path): another program has written it", hint: "move it away: the bus reads one file of this name")
  }

  /// A bus that systemd has started uses the unit, and any other the program.
  private static func content(_ program: String) throws(Failure) -> String {
    // The bus splits the value into words, as a shell does.
    guard program.utf8.allSatisfy(isPlain) else {
      throw Failure(.other, "\(program): the files of the bus have no way to write this path", hint: "install Coffer elsewhere")
    }
    return mark + """
      [D-BUS Service]
      Name=org.freedesktop.secrets
      Exec=\(program)
      SystemdService=coffer-secrets.service

      """
  }

  private static func isPlain(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"): true
    default: "/._-+@,:".utf8.contains(byte)
    }
  }
}
