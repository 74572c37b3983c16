import CLinux
import CofferConsole
import CofferFiles
import CofferLifecycle
import CofferStorage
import CofferWire
import Glibc
import SecretMemory
import VaultCore

/// A vault's file, and what lies beside it.
struct VaultPlace {
  let path: String
  let store: FileStore
  let anchor: AnchorFiles
  /// The file of `--key-file`, open and not yet read.
  var keyFile: Descriptor?
  private let places: Places
  private var newDeviceKey: NewDeviceKey?

  /// - Throws: `noVault` and whatever else is wrong with the file.
  init(opening path: String?) throws {
    places = try Places { Environment[$0] }
    self.path = path ?? places.vault
    let file = self.path
    store = try about(file) { try FileStore(at: file) }
    anchor = places.anchors(forVaultAt: store.path)
  }

  /// Before anybody is asked for a passphrase.
  /// - Throws: duplicate, with what lies there; input/output, where a directory that the caller named is missing.
  static func checkFree(_ path: String?) throws {
    let file = try path ?? Places { Environment[$0] }.vault
    guard unsafe access(file, F_OK) != 0 else { throw occupied(file) }
    var status = stat()
    if errno == ENOENT || errno == ELOOP, unsafe lstat(file, &status) == 0 {
      throw Failure(.duplicate, "\(file): a symbolic link lies there that leads to no file", hint: "remove it, or \(another)")
    }
    do { _ = try FileStore(at: file) } catch let error as StorageError {
      if error.code == .logWithoutVault { throw Failure(error, about: file) }
    }
    guard path != nil, let slash = file.lastIndex(of: "/"), slash != file.startIndex else { return }
    let directory = String(file[..<slash])
    guard unsafe access(directory, F_OK) != 0, errno == ENOENT else { return }
    throw Failure(.inputOutput, "\(file): the directory \(directory) is missing", hint: "mkdir -p -m 700 \(directory)")
  }

  private static let another = "name one that is not there yet: --vault PATH"

  private static func occupied(_ path: String) -> Failure {
    var status = stat()
    guard unsafe stat(path, &status) == 0 else { return SystemError.last.failure(path) }
    switch status.st_mode & S_IFMT {
    case S_IFDIR:
      return Failure(.duplicate, "\(path): is a directory, not a file", hint: "\(another), for example in this directory")
    case S_IFREG where status.st_size == 0:
      return Failure(.duplicate, "\(path): an empty file lies there", hint: "remove it, or \(another)")
    case S_IFREG: break
    default: return Failure(.duplicate, "\(path): is not a regular file", hint: another)
    }
    do {
      _ = try FileStore(at: path)
    } catch {
      // One that cannot be used is a vault all the same.
      if (error as? StorageError)?.code == .notAVault {
        return Failure(.duplicate, "\(path): a file lies there that is not a vault", hint: another)
      }
    }
    return Failure(StorageError(.vaultExists), about: path)
  }

  init(creating path: String?) throws {
    places = try Places { Environment[$0] }
    self.path = path ?? places.vault
    let file = self.path
    store = try about(file) { try FileStore.create(at: file, createDirectory: path == nil) }
    anchor = places.anchors(forVaultAt: store.path)
  }

  /// The error with another hint if the file is a copy of a vault that is opened elsewhere: to accept the copy would make older states of
  /// that vault acceptable, which has the same anchor. Or if it may be an old one, which does not open with what opens the present one.
  func naming(_ error: any Error) -> any Error {
    if (error as? VaultError)?.code == .wrongCredential, let reason = age ?? exchange {
      let failure = Failure(error, about: path)
      return Failure(failure.status, "\(failure.message); \(reason)", hint: "a later backup in its place: coffer vault restore")
    }
    guard let refused = error as? VaultError, VaultCheck.Rollback.codesOfCopies.contains(refused.code),
      let vault = try? Vault.inspect(store).id, (try? anchor.lastVault()) != vault.bytes
    else { return error }
    let failure = Failure(refused, about: path)
    return Failure(
      failure.status, failure.message,
      hint: "it is a copy of a vault that was opened elsewhere: coffer import coffer FILE copies items from it, coffer vault "
        + "verify checks it; if it is to go on by itself: coffer vault accept-rollback")
  }

  /// For people, according to what is not proven: that the vault at this path is an older state than the one last seen. nil if it is not.
  var age: String? {
    guard let status = try? Vault.inspect(store), (try? anchor.lastVault()) == status.id.bytes,
      let seen = anchor.seenGeneration(of: status.id), seen > status.generation
    else { return nil }
    return "it is an older state (generation \(status.generation)) than the one last seen here (generation \(seen))"
  }

  /// For people: that the vault at this path is another one than was last seen here. nil if it is not.
  private var exchange: String? {
    guard let vault = try? Vault.inspect(store).id, let seen = try? anchor.lastVault(), seen != vault.bytes else { return nil }
    return "its id is not that of the vault last seen here: it is another one, or it is damaged"
  }

  /// Where its backups lie that were given no name.
  var backups: BackupDirectory { BackupDirectory(at: places.backups(forVaultAt: store.path)) }

  func deviceKeys(of vault: Identifier) -> DeviceKeyFiles { places.deviceKeys(of: vault) }

  /// Gives a vault that was just opened the key that binds items to this machine, or the new one, which has no file yet.
  func openDeviceKey(of vault: borrowing Vault) throws {
    let files = deviceKeys(of: vault.keys.vault)
    guard try !about("the key of this device", { try files.open(vault) }), let newDeviceKey else { return }
    newDeviceKey.file = files.own
    try vault.use(deviceKey: newDeviceKey.key.duplicate())
  }

  /// If this device has no key for the vault, the vault is opened with a new one, which has no file yet.
  mutating func prepareDeviceKey() throws { newDeviceKey = try NewDeviceKey() }

  /// Makes the file of the new key, before something is sealed with it. An existing one is never replaced, because items that were sealed
  /// with it would be lost.
  func keepNewDeviceKey() throws {
    guard let newDeviceKey, let file = newDeviceKey.file else { return }
    do { try file.create(newDeviceKey.key) } catch StorageError(.vaultExists) {
      throw Failure(
        .inputOutput, "\(file.path): another command has made it meanwhile; nothing has been changed", hint: "try again")
    } catch { throw Failure(error, about: file.path) }
    Descriptor.error.note("note: \(file.path.escapingControls()): a new key of this device, without which such items are lost\n")
  }
}

/// A key of this device that may have no file yet.
final class NewDeviceKey {
  let key: Secret
  /// nil if this device has a key for the vault.
  var file: DeviceKeyFile?

  init() throws { key = try .random(count: DeviceKeyFile.byteCount) }
}
