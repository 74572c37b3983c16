import CofferConsole
import CofferFiles
import CofferSync
import SyncEngines
import VaultCore

/// An error of the engine, which is none of the files of this device.
struct EngineFailure: Explained {
  private let address: EngineAddress
  private let error: any Error
  /// The work that has failed, for the hint.
  enum Purpose { case synchronise, becomeDevice, addDevice }

  var purpose = Purpose.synchronise

  init(_ error: any Error, _ address: EngineAddress) { (self.error, self.address) = (error, address) }

  /// Whether the log, or the mailbox, is not there.
  var isMissing: Bool { (error as? FileError)?.code == .missing }

  /// Whether the engine is there without this space: the last part of the path that is missing is its identifier.
  func lacks(_ space: Identifier) -> Bool {
    guard isMissing, let error = error as? FileError else { return false }
    return error.detail.split(separator: "/").last?.elementsEqual(space.description) == true
  }

  /// Whether it has no space left for entries.
  var isOfSpace: Bool { (error as? FileError)?.code == .full }

  /// In words, without the address.
  var detail: String {
    guard let error = error as? FileError else { return Failure(error).message }
    return switch (address, error.code) {
    case (_, .missing): "it is not there: \(error.detail)"
    // These say themselves what a file cannot: the certificate, the role, the quota, the member.
    case (.etcd, .accessDenied), (.etcd, .full), (.etcd, .io), (_, .toolFailed): error.detail
    default: Failure(error).message
    }
  }

  /// Always one status: for the caller the engine is the disk of another machine.
  var explanation: Explanation {
    let isFile = if case .etcd = address { false } else { true }
    let missing =
      switch purpose {
      case _ where !isFile: "has etcd lost its data? nothing is lost"
      case .becomeDevice: "make the directory, or mount the file server: this vault is as it was"
      case .synchronise, .addDevice: "is the file server mounted? nothing is lost"
      }
    return .init(.inputOutput, "\(address): the engine cannot be used", isMissing ? missing : hint)
  }

  /// The certificate, its files, the role: no later call finds them repaired by itself.
  private var needsPerson: Bool {
    guard case .etcd = address, let error = error as? FileError else { return false }
    return error.code == .accessDenied || error.code == .toolFailed
  }

  private var hint: String {
    switch purpose {
    case .synchronise where needsPerson: "nothing is lost; when this is repaired: coffer sync now"
    case .synchronise: "nothing is lost; later: coffer sync now"
    case .becomeDevice: "this vault is as it was"
    // It may have been added just before.
    case .addDevice where needsPerson:
      "coffer sync members lists the devices; when this is repaired, begin again on the new one: coffer sync join"
    case .addDevice: "coffer sync members lists the devices; begin again on the new one: coffer sync join"
    }
  }
}

/// An engine whose errors name it.
final class ReachedEngine: WaitingEngine {
  private let engine: any WaitingEngine
  private let address: EngineAddress

  init(_ engine: any WaitingEngine, _ address: EngineAddress) { (self.engine, self.address) = (engine, address) }

  var isDirectory: Bool { if case .directory = address { true } else { false } }

  private func reached<Result>(_ body: () throws -> Result) throws(EngineFailure) -> Result {
    do { return try body() } catch { throw EngineFailure(error, address) }
  }

  func append(_ number: UInt64, _ entry: [UInt8]) throws(EngineFailure) -> Appended {
    try reached { try engine.append(number, entry) }
  }

  func read(from number: UInt64, limit: Int) throws(EngineFailure) -> [NumberedEntry] {
    try reached { try engine.read(from: number, limit: limit) }
  }

  func put(_ name: ObjectName, _ object: [UInt8]) throws(EngineFailure) { try reached { try engine.put(name, object) } }
  func get(_ name: ObjectName) throws(EngineFailure) -> [UInt8]? { try reached { try engine.get(name) } }
  func names(after last: ObjectName?) throws(EngineFailure) -> [ObjectName] { try reached { try engine.names(after: last) } }
  func delete(_ names: [ObjectName]) throws(EngineFailure) { try reached { try engine.delete(names) } }
  func deleteEntries(_ ranges: [Range<UInt64>]) throws(EngineFailure) { try reached { try engine.deleteEntries(ranges) } }

  func beginWaiting(for number: UInt64) throws(EngineFailure) -> LogSign {
    try reached { try engine.beginWaiting(for: number) }
  }

  func clearSign() { engine.clearSign() }
  func mayHave(_ number: UInt64) throws(EngineFailure) -> Bool { try reached { try engine.mayHave(number) } }
}

/// An engine that was not reached.
final class MissingEngine: Engine {
  private let failure: EngineFailure

  init(_ failure: EngineFailure) { self.failure = failure }

  func append(_ number: UInt64, _ entry: [UInt8]) throws(EngineFailure) -> Appended { throw failure }
  func read(from number: UInt64, limit: Int) throws(EngineFailure) -> [NumberedEntry] { throw failure }
  func put(_ name: ObjectName, _ object: [UInt8]) throws(EngineFailure) { throw failure }
  func get(_ name: ObjectName) throws(EngineFailure) -> [UInt8]? { throw failure }
  func names(after last: ObjectName?) throws(EngineFailure) -> [ObjectName] { throw failure }
  func delete(_ names: [ObjectName]) throws(EngineFailure) { throw failure }
  func deleteEntries(_ ranges: [Range<UInt64>]) throws(EngineFailure) { throw failure }
}
