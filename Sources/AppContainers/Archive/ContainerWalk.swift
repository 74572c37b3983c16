package import CofferFiles
internal import Glibc

/// Everything in a container, a directory before what is in it. Never through a link, and bounded in depth: each level takes a descriptor.
struct ContainerWalk {
  static let maximumDepth = 100

  struct Entry {
    let names: [FileName]
    let kind: FileStatus.Kind
    /// In which it lies.
    let parent: OpenDirectory

    var path: [UInt8] { Array(names.map(\.bytes).joined(separator: [UInt8(ascii: "/")])) }
  }

  private let visit: (Entry) throws(FileError) -> Bool

  /// - Parameter visit: Whether to go into a directory.
  init(_ visit: @escaping (Entry) throws(FileError) -> Bool) { self.visit = visit }

  /// - Throws: `tooDeep`; what `visit` throws; what the system says.
  func run(_ directory: OpenDirectory, _ above: [FileName] = []) throws(FileError) {
    guard above.count < Self.maximumDepth else {
      throw FileError(.tooDeep, "\(RelativePath(names: Array(above.prefix(4))))/…: more than \(Self.maximumDepth) levels")
    }
    for name in try directory.names() {
      guard let kind = try directory.kind(name) else { continue }  // It went meanwhile.
      let entry = Entry(names: above + [name], kind: kind, parent: directory)
      guard try visit(entry), kind == .directory, let below = try directory.directory(name) else { continue }
      try run(below, entry.names)
    }
  }
}

extension OpenDirectory {
  /// Where a link leads, as it is written there.
  package func target(_ name: FileName) throws(FileError) -> [UInt8] {
    var failure: Int32 = 0
    let bytes = unsafe [UInt8](unsafeUninitializedCapacity: 4096) { buffer, count in
      let result = unsafe buffer.withMemoryRebound(to: CChar.self) { room in
        guard let start = room.baseAddress else { return -1 }
        return unsafe readlinkat(number, name.terminated, start, room.count)
      }
      if result < 0 { failure = errno }
      count = max(0, result)
    }
    guard failure == 0 else { throw FileError(errno: failure, below(name)) }
    return bytes
  }
}

extension ContainerWalk.Entry {
  /// Whether a link is relative and leads to nowhere above the container. `..` after a name does not count as staying inside: the name
  /// may be a link itself, and its parent then is elsewhere.
  var linkStaysInside: Bool {
    get throws(FileError) {
      let target = try parent.target(names[names.count - 1])
      guard let first = target.first, first != UInt8(ascii: "/") else { return false }
      var depth = names.count - 1
      var hasName = false
      for part in target.split(separator: UInt8(ascii: "/")) where !part.elementsEqual(".".utf8) {
        if part.elementsEqual("..".utf8) {
          depth -= 1
          if hasName || depth < 0 { return false }
        } else {
          hasName = true
        }
      }
      return true
    }
  }
}
