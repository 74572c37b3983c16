import CofferConsole
import CofferFiles
import ForeignFormats
import SecretMemory

/// The configuration of cargo that lies beside a file with tokens.
struct CargoConfiguration {
  /// A change that `coffer sweep --undo` takes back.
  struct Change: Equatable {
    let path: String
    /// Whether there was no file.
    let isNew: Bool
    let added: String
  }

  let path: String

  /// cargo reads the name without an ending, if both are there.
  init(beside file: String) {
    let directory = Path.parent(of: file)
    let old = Path.join(directory, "config")
    let isOld = (try? Files<FileError>.status(at: old, followingLinks: true)) != nil
    path = isOld ? old : Path.join(directory, "config.toml")
  }

  private init(at path: String) { self.path = path }

  /// nil: there is none.
  /// - Throws: I/O.
  func content() throws -> ReadFile? {
    guard try Files<FileError>.status(at: path) != nil else { return nil }
    return try ReadFile(at: path)
  }

  /// The change that has cargo ask coffer. nil: it asks it already. Nothing is changed yet.
  /// - Throws: as `CargoFormat.asking`; I/O, if it cannot be written.
  func change() throws -> Change? {
    let content = try content()
    let text = try content?.text ?? SourceText(Secret(count: 0))
    guard let edit = try CargoFormat.asking(CargoFindings.program, in: text) else { return nil }
    try content?.checkIsReplaceable()
    return Change(path: path, isNew: content == nil, added: edit.text)
  }

  /// Does nothing if cargo asks coffer already.
  static func carryOut(_ change: Change) throws {
    let own = CargoConfiguration(at: change.path)
    guard let content = try own.content() else {
      return try NewContent.place(Secret(copying: Array(change.added.utf8)), at: own.path, mode: 0o644)
    }
    guard let edit = try CargoFormat.asking(CargoFindings.program, in: content.text) else { return }
    try FileReplacement(of: content).place(FileEdit(content.text, [edit]).result())
  }

  /// Does nothing if the person has changed it since.
  static func takeBack(_ change: Change) throws {
    guard let content = try CargoConfiguration(at: change.path).content(),
      let place = content.text.onlyPlace(of: Array(change.added.utf8))
    else { return }
    if change.isNew, content.text.count == place.count {
      try Files<FileError>.remove(content.path)
      return try Files<FileError>.synchronizeDirectory(Path.parent(of: content.path))
    }
    try FileReplacement(of: content).place(FileEdit(content.text, [TextEdit(place)]).result())
  }
}

extension SourceText {
  /// Returns nil if the words are not there, or twice.
  fileprivate func onlyPlace(of words: [UInt8]) -> Range<Int>? {
    guard count >= words.count else { return nil }
    let places = (0...count - words.count).filter { start in
      words.indices.allSatisfy { self[start + $0] == words[$0] }
    }
    return places.count == 1 ? places[0]..<places[0] + words.count : nil
  }
}
