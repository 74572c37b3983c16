/// The kinds that this program shows, and the requests for them.
struct HostedKinds {
  private let place: RequestPlace
  private let names: [KindName]
  private let tell: @Sendable () -> Void
  private var directory: RequestDirectory
  private var watch: DirectoryWatch
  /// Each with the number of requests processed.
  private var files: [(file: KindFile, taken: Int)] = []

  /// Claims the kinds for this program; requests are kept for it from now on. Earlier requests are satisfied by the first call of
  /// each provider, which the caller makes next.
  /// - Throws: `kindInUse`, `notWatchable`, `container`.
  init(_ names: [KindName], in place: RequestPlace, tell: @escaping @Sendable () -> Void) throws(WidgetError) {
    self.place = place
    self.names = names
    self.tell = tell
    directory = try place.made()
    watch = try DirectoryWatch(directory.directory, tell: tell)
    if try !claim() { try begin() }
  }

  /// The number of requests for each kind since the last call. 1 if the file was deleted, because a program that did not find the
  /// file has made no request.
  mutating func take() throws(WidgetError) -> [Int] {
    watch.willLook()
    guard try place.existing()?.isSame(as: directory) ?? false else { return try begin() }
    var counts: [Int] = []
    for index in files.indices {
      if try !files[index].file.isInPlace {
        guard let file = try Self.claimed(names[index], in: directory) else { return try begin() }
        files[index] = (file, 0)
        counts.append(1)
      } else {
        let total = try files[index].file.requestCount
        // Fewer than before if the file was truncated.
        counts.append(total < files[index].taken ? 1 : total - files[index].taken)
        files[index].taken = total
      }
    }
    return counts
  }

  /// Starts again after the directory was deleted.
  @discardableResult private mutating func begin() throws(WidgetError) -> [Int] {
    repeat {
      // Release this program's own claims, which would be in the way.
      files = []
      directory = try place.made()
      watch = try DirectoryWatch(directory.directory, tell: tell)
    } while try !claim()
    return names.map { _ in 1 }
  }

  /// - Returns: False if the directory was deleted meanwhile.
  private mutating func claim() throws(WidgetError) -> Bool {
    for name in names {
      guard let file = try Self.claimed(name, in: directory) else { return false }
      files.append((file, 0))
    }
    return true
  }

  private static func claimed(_ name: KindName, in directory: RequestDirectory) throws(WidgetError) -> KindFile? {
    while let file = try KindFile.made(name, in: directory.directory) {
      try file.claim()
      try file.empty()
      if try file.isInPlace { return file }
    }
    return nil
  }
}
