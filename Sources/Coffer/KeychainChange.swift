internal import CofferRequests
public import VaultCore

/// Something that has happened to a keychain.
public enum KeychainChange: Hashable, Sendable {
  /// An item was added, or became visible to the caller.
  case added(Reference)
  /// Its secret or its attributes. Where that has changed what makes it unique, or its group, it is `removed` and `added`.
  case updated(Reference)
  /// An item was removed, or is no longer visible to the caller.
  case removed(Reference)
  /// The keychain was locked.
  case locked
  /// The keychain was unlocked. Through an agent also if the owner has proven a credential while it was open.
  case unlocked
  /// More has happened than is told: read again all that you keep a copy of, `isLocked` too.
  case missed

  init(_ notice: Notice) {
    switch notice {
    case .added(let reference): self = .added(reference)
    case .updated(let reference): self = .updated(reference)
    case .removed(let reference): self = .removed(reference)
    case .locked: self = .locked
    case .unlocked: self = .unlocked
    case .missed: self = .missed
    }
  }
}

extension Keychain {
  /// Changes from now on: items of the groups that the caller may list are added, updated, removed; the keychain is locked,
  /// unlocked.
  ///
  /// To keep a copy: ask for the changes, then list, then follow them. No change is lost without `missed`:
  ///
  /// - A slow reader delays nothing: if more than 255 changes wait, they are replaced by `missed`.
  /// - Changes of other processes in the vault's own file, and not through the agent, are `missed`: delivered when this
  ///   keychain, or another program that uses the agent, makes its next request; by an unlocked agent within a minute.
  /// - If the agent ends and another one starts, it is `missed`; and `unlocked`, if that one was unlocked before this keychain has
  ///   found it.
  ///
  /// Rights are checked at delivery, so a revoked grant ends the changes of its group. The sequence ends when its task is
  /// cancelled. It throws `missingEntitlement` or `appNotInstalled` if the caller may not watch, or not any more; `integrity`, …
  ///
  /// For one reader. Through the agent each has a connection and a thread of its own.
  public var changes: KeychainChanges { KeychainChanges(transport.watch()) }
}

/// The changes of a keychain. See `Keychain.changes`.
public struct KeychainChanges: AsyncSequence, Sendable {
  public typealias Element = KeychainChange
  public typealias Failure = KeychainError

  private let source: any ChangeSource

  init(_ source: any ChangeSource) { self.source = source }

  public func makeAsyncIterator() -> Iterator { Iterator(source) }

  /// Waits for the next change. The end of the iterator ends its thread and connection.
  public struct Iterator: AsyncIteratorProtocol {
    private let source: any ChangeSource
    private var signals: AsyncStream<Void>.Iterator

    fileprivate init(_ source: any ChangeSource) {
      self.source = source
      signals = source.pending.signals.makeAsyncIterator()
    }

    public mutating func next() async throws(KeychainError) -> KeychainChange? { try await next(isolation: #isolation) }

    public mutating func next(isolation actor: isolated (any Actor)?) async throws(KeychainError) -> KeychainChange? {
      while !Task.isCancelled {
        if let notice = try source.next() { return KeychainChange(notice) }
        guard await signals.next(isolation: actor) != nil else { break }
      }
      // Changes before the end are delivered before it.
      if !Task.isCancelled {
        if let notice = try source.next() { return KeychainChange(notice) }
        if let failure = source.pending.failure { throw failure }
      }
      return nil
    }
  }
}
