import AppContainers
import CLinux
import CofferAgent
import CofferAudit
import CofferFiles
import CofferRequests
import CofferStorage
import CofferWire
import Glibc
import Pinentry
import UnitCredentials
import VaultCore

/// Everything that an agent needs, made from where it was started.
struct Service {
  let server: AgentServer
  let vault: AgentVault
  let log: DecisionLog
  /// The file that must exist for the agent to serve; nil if the agent itself makes it.
  let watched: String?
  /// Whether it keeps the vault of another user.
  var isOfSystem: Bool { watched == nil }
  /// nil if no other program of the agent's user could connect.
  private let socket: String?
  /// Serves the service manager, if that has handed over a socket for it.
  let credentials: CredentialServer?

  /// An agent that runs as the user.
  /// - Throws: `StorageError`, `FileError`, `UserDirectories.Failure`, `ListeningSockets.Failure`, `AgentServer.Failure`.
  init(vault path: String?, leaseMinutes: Int) throws {
    let places = try Places(environment: { Environment[$0] })
    let vault = try AgentVault(places, at: path)
    let data = try DataDirectory(at: UserDirectories(environment: { Environment[$0] }).dataDirectory())
    let log = try DecisionLog(in: places.state)
    self.log = log
    let programs = Programs(in: data, command: Self.sibling("coffer"), own: Self.places(of:))
    let questions = OwnerQuestions(
      vault: vault.path, minutes: leaseMinutes, display: .current, pinentry: { () throws(PinentryError) in try .current() },
      log: { event in try log.append(event) })
    // From here on no other process of the same user can read this one's memory.
    Hardening.hide()
    let socket = path == nil ? places.agentSocket : places.agentSocket(forVaultAt: vault.path)
    let inherited = try ListeningSockets.inherited(environment: { Environment[$0] })
    guard inherited?.credentials == nil else { throw Refusal.credentials }
    do throws(AgentServer.Failure) {
      server = try AgentServer(
        inherited.map { .listening($0.agent) } ?? .path(socket), lockPath: places.agentLock(forVaultAt: vault.path), vault: vault,
        programs: programs, questions: questions, logFault: { try log.append($0, $1, $2) }, log: { try log.append($0, $1, $2) })
    } catch {
      throw StartFailure(error, socket: socket)
    }
    self.vault = vault
    self.socket = socket
    watched = vault.path
    credentials = nil
  }

  /// An agent under a user of its own, for another one.
  /// - Parameters:
  ///   - directory: The directory of all its files.
  ///   - services: The directory that maps credentials of services to items.
  /// - Throws: as above; `Refusal`.
  init(user: UInt32, in directory: String, services: String) throws {
    guard geteuid() != 0 else { throw Refusal(description: "it must not run as root") }
    guard geteuid() != user else { throw Refusal(description: "it must run as another user than the one it serves") }
    guard let sockets = try ListeningSockets.inherited(environment: { Environment[$0] }) else {
      throw Refusal(description: "no socket was handed over: the service manager starts it (sd_listen_fds(3))")
    }
    guard user == 0 || sockets.credentials == nil else { throw Refusal.credentials }
    Hardening.hide()
    let places = Places(in: directory)
    let data = try DataDirectory(at: directory)
    let log = try DecisionLog(in: places.state)
    self.log = log
    let vault = AgentVault(ofSystem: places)
    // No questions are asked: a program of this user reaches neither the display nor the terminal of the other.
    server = try AgentServer(
      .listening(sockets.agent), lockPath: places.agentLock(forVaultAt: places.vault), vault: vault,
      programs: Programs(in: data, command: Self.sibling("coffer"), own: Self.places(of:), hasExecutables: false),
      administration: VaultAdministration(vault, places, data), user: user, logFault: { try log.append($0, $1, $2) },
      log: { try log.append($0, $1, $2) })
    self.vault = vault
    watched = nil
    socket = nil
    let map = CredentialMap(at: services)
    credentials = try sockets.credentials.map {
      guard let server = CredentialServer($0, vault: vault, map: map, log: { try log.append($0, $1, $2) }) else {
        throw StartFailure(.inputOutput, "a socket for services: \(ErrorNumber.text(of: errno))")
      }
      return server
    }
  }

  /// Why it does not even begin.
  struct Refusal: Error, CustomStringConvertible {
    static let credentials = Refusal(
      description: "a socket for the credentials of services: only the agent of root's vault has one")

    let description: String
  }

  /// Once it listens.
  func watchLogind() {
    if let socket { LogindWatch.start(at: ProgramPlaces.internalProgram(LogindWatch.name), socket: socket, user: getuid()) }
  }

  private static func sibling(_ name: String) -> String? { ProgramPlaces.ownDirectory.map { $0 + name } }

  private static func places(of program: OwnProgram) -> [String] { ProgramPlaces.internalProgram(program.rawValue) }
}
