import Coffer
import MessageBus

/// Unlock, and the question that may be needed for it.
extension Service {
  /// - Returns: The very paths that were given, of what is unlocked: clients compare them. Unknown ones are left out.
  func unlock(_ paths: [String], _ invocation: Invocation, _ store: ItemStore) throws -> [Value] {
    let catalog = try catalog(store)
    let (isOpen, locked) = (try isOpen(store), state.locked)
    let known = paths.compactMap { path in catalog.collection(at: path).map { (path, $0.name) } }
    let open = known.filter { (isOpen || $0.1 == Collection.sessionName) && !locked.contains($0.1) }.map(\.0)
    guard open.count < known.count else { return [.paths(open), .path(ObjectPath.none)] }
    // A prompt that is dismissed at once reads as "not found" in libsecret.
    guard unlocking.canAsk else { throw BusError.isLocked }
    let name = try state.add(
      ServiceState.Prompt(
        sender: invocation.sender, client: invocation.client, paths: known.map(\.0).filter { !open.contains($0) }))
    return [.paths(open), .path(ObjectPath.prompt(name))]
  }

  func prompt(_ name: String, _ invocation: Invocation) throws -> [Value] {
    _ = try state.prompt(name, of: invocation.sender)
    switch invocation.method.name {
    case "Prompt":
      guard state.begin(name) else { throw BusError.failed("the prompt is shown already") }
      unlocking.ask(within: Self.promptMilliseconds) { [self] in complete(name, isUnlocked: $0) }
    case "Dismiss": complete(name, isUnlocked: false)
    default: throw BusError.unknownMethod(invocation.method.name)
    }
    return []
  }

  /// Clients begin to listen after the reply, so the signal comes a while after it.
  private static let delayMilliseconds: UInt64 = 100

  /// Tells the caller alone, once, when the state has changed. The result has its type also when the prompt was dismissed.
  private func complete(_ name: String, isUnlocked: Bool) {
    guard let prompt = state.end(name) else { return }
    if isUnlocked { try? withStore(for: prompt.client) { try unlocked(prompt.paths, $0) } }
    let signal = Outbox.Signal(
      ObjectPath.prompt(name), Interface.prompt.name, "Completed",
      [.flag(!isUnlocked), .variant(.paths(isUnlocked ? prompt.paths : []))], to: prompt.sender)
    outbox.send(signal, after: Self.delayMilliseconds)
  }

  private func unlocked(_ paths: [String], _ store: ItemStore) throws {
    let catalog = try catalog(store)
    for collection in paths.compactMap({ catalog.collection(at: $0) }) {
      state.unlock(collection.name)
      try changed(collection, store)
    }
  }
}
