import AppContainers
import CofferAgent
import CofferFiles
import CofferStorage
import Glibc
import Pinentry
import SecretMemory

/// Why the agent does not start: one line for people, a hint what helps, and how the process ends. In the form of `coffer`, which prints it
/// as its own where it has started the agent.
struct StartFailure: Error {
  /// The codes of `coffer`, with what they mean there.
  enum Status: Int32 {
    case other = 1
    case usage = 2
    case wrongPassphrase = 7
    case integrity = 9
    case noVault = 10
    /// Reading or writing failed, or another process holds the vault.
    case inputOutput = 12
  }

  let status: Status
  let message: String
  let hint: String?
  /// Another agent has the vault: who wants one has one.
  let isRunning: Bool

  init(_ status: Status, _ message: String, hint: String? = nil, isRunning: Bool = false) {
    self.status = status
    self.message = message
    self.hint = hint
    self.isRunning = isRunning
  }

  static func usage(_ message: String, hint: String = "cofferd --help") -> StartFailure {
    StartFailure(.usage, message, hint: hint)
  }

  /// `what: why`, and the hint. Paths of others in it are on one line.
  var text: String {
    let lines = [message] + (hint.map { ["hint: \($0)"] } ?? [])
    return lines.map { PinentryText.visible($0, limit: 4096) + "\n" }.joined()
  }

  init(_ error: any Error) {
    switch error {
    case let failure as StartFailure: self = failure
    case let error as StorageError: self.init(Self.words(error.code), error.detail)
    case let error as FileError: self.init(Self.words(error.code), error.detail)
    case let error as VaultError where error.code == .memoryNotLockable:
      self.init(
        .other, "no memory can be locked",
        hint: "raise the limit (ulimit -l), or accept that secrets may be swapped out: --allow-swap")
    case let error as VaultError:
      self.init(.other, [error.code.name, error.detail].filter { !$0.isEmpty }.joined(separator: ": "))
    case let refusal as Service.Refusal: self.init(.other, refusal.description)
    case ListeningSockets.Failure.unfit(let why):
      self.init(.other, "the socket that was handed over: \(why)", hint: "the service manager starts it: sd_listen_fds(3)")
    default: self.init(.other, "\(error)")
    }
  }

  /// - Parameter socket: On which it was to listen.
  init(_ failure: AgentServer.Failure, socket: String) {
    switch failure {
    case .running:
      self.init(
        .inputOutput, "another agent has this vault",
        hint: "to end that one: coffer agent stop, or kill(1) if it does not answer",
        isRunning: true)
    case .openDirectory:
      let directory = String(socket[..<(socket.lastIndex(of: "/") ?? socket.endIndex)])
      self.init(
        .inputOutput, "\(directory): must be a directory of this user, and closed to others",
        hint: "chmod 700, or another XDG_RUNTIME_DIR")
    case .system(socket, ENAMETOOLONG):
      self.init(
        .inputOutput, "\(socket): is too long for a socket, whose path has at most 107 bytes",
        hint: "a shorter COFFER_HOME, XDG_RUNTIME_DIR or XDG_STATE_HOME")
    case .system(let path, ENOENT) where socket.hasPrefix("\(path)/"):
      self.init(
        .inputOutput, "\(path): the directory for sockets cannot be made, because the one above it is missing",
        hint: "log in anew, or set XDG_RUNTIME_DIR to a directory of yours, or unset it")
    case .lock(let error): self.init(error)
    case .system(let what, let number): self.init(.inputOutput, "\(what): \(ErrorNumber.text(of: number))")
    }
  }

  // MARK: Errors of files

  private typealias Words = (status: Status, message: String, hint: String?)

  private init(_ words: Words, _ detail: String) {
    self.init(words.status, detail.isEmpty ? words.message : "\(detail): \(words.message)", hint: words.hint)
  }

  private static func words(_ code: StorageError.Code) -> Words {
    switch code {
    case .noVault:
      (.noVault, "no vault here", "to make one: coffer init; from a backup: coffer vault restore; to name another: --vault PATH")
    case .logWithoutVault:
      (
        .integrity, "the vault's file is missing, and a file with its latest changes is here",
        "coffer vault status names the ways out"
      )
    case .relativePath: (.usage, "is not an absolute path", "an absolute COFFER_HOME, or none")
    case .noHome: (.usage, "the home directory is not known", "set HOME or COFFER_HOME")
    case .notAVault: (.integrity, "is not a vault", "name another file with --vault")
    case .notAFile: (.inputOutput, "something that is not a file has the name of one of its own", "remove it, or move it away")
    case .newerFormat: (.other, "has a format this version does not know", "update coffer")
    case .migrationNeeded: (.other, "has a format of before", "to convert it: coffer vault migrate")
    // The vault's device key, or a credential.
    case .wrongLength: (.inputOutput, "has another length than it must have", nil)
    case .tooLarge: (.inputOutput, "is larger than 64 GiB", nil)
    case .schemaAltered, .columnMismatch, .storageDamaged, .truncated:
      (.integrity, "is damaged", "restore a backup; the damaged file stays as it is until you replace it")
    case .symbolicLink: (.inputOutput, "is a symbolic link", "name the file itself")
    case .hardLink: (.inputOutput, "is one file under two names", "put a copy in the place of one of them")
    case .foreignOwner: (.inputOutput, "belongs to another user", "a vault and its directories must belong to you")
    case .permissionsTooOpen: (.inputOutput, "others may read or write it", "chmod 600 a file, chmod 700 a directory")
    case .accessDenied: (.inputOutput, "you may not use it", nil)
    case .readOnly: (.inputOutput, "is read-only", nil)
    case .full: (.inputOutput, "no room on the disk", "make room and try again")
    case .busy: (.inputOutput, "another process is writing", "try again")
    case .io: (.inputOutput, "reading or writing failed", nil)
    case .maintenance: (.inputOutput, "maintenance under way", "try again when it has ended")
    case .vaultExists, .replaced, .inDoubt, .outOfMemory, .descriptorsExhausted: (.inputOutput, code.name, nil)
    }
  }

  private static func words(_ code: FileError.Code) -> Words {
    switch code {
    case .symbolicLink: words(StorageError.Code.symbolicLink)
    case .foreignOwner: words(StorageError.Code.foreignOwner)
    case .permissionsTooOpen: words(StorageError.Code.permissionsTooOpen)
    case .accessDenied: words(StorageError.Code.accessDenied)
    case .notADirectory: (.inputOutput, "is not a directory", nil)
    case .readOnly: words(StorageError.Code.readOnly)
    case .full: words(StorageError.Code.full)
    case .busy: words(StorageError.Code.busy)
    case .io: words(StorageError.Code.io)
    case .nameNotAllowed, .missing, .exists, .readOnlyDirectory, .running, .attributesNotSupported, .notAFile, .tooDeep,
      .tooLarge,
      .archiveRefused, .archiveOfAnotherApp, .toolMissing, .toolFailed, .descriptorsExhausted, .outOfMemory:
      (.inputOutput, code.name, nil)
    }
  }
}
