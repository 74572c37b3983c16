import CofferStorage
import CofferTesting
import Foundation
import SecretMemory

/// A directory for one test, removed with it; in memory where the system has that.
final class Directory {
  let path: String

  init(inMemory: Bool = false) throws {
    let base = inMemory && FileManager.default.fileExists(atPath: "/dev/shm") ? "/dev/shm" : NSTemporaryDirectory()
    path = base + "/coffer-test-" + UUID().uuidString
    try FileManager.default.createDirectory(
      atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }

  func file(_ name: String) -> String { path + "/" + name }
}

/// A program of this build.
func program(_ name: String) -> URL {
  let folder = Bundle.main.executableURL?.resolvingSymlinksInPath().deletingLastPathComponent()
  return (folder ?? URL(filePath: ".build/debug")).appending(path: name)
}

func start(_ name: String, _ arguments: [String], output: FileHandle? = nil) throws -> Process {
  let process = Process()
  process.executableURL = program(name)
  process.arguments = arguments
  process.standardOutput = output ?? FileHandle.nullDevice
  try process.run()
  return process
}

func code(_ body: () throws -> Void) -> String? {
  do {
    try body()
    return nil
  } catch let error as VaultError {
    return error.code.name
  } catch let error as StorageError {
    return error.code.name
  } catch {
    return "\(error)"
  }
}
