import CofferFiles
import ForeignFormats

extension [SweptFile] {
  /// The files of shells read each other: a variable that another one of the directory has as well stays, because the shell would put the
  /// reference into the other value.
  func withoutSharedVariables() -> [SweptFile] {
    let shells = filter { $0.place.kind == .shell }.compactMap { file in
      file.content.map { (path: file.place.path, directory: Path.parent(of: $0.path), lines: ShellLines($0.text)) }
    }
    return map { file in
      guard file.place.kind == .shell, let content = file.content else { return file }
      let directory = Path.parent(of: content.path)
      let others = shells.filter { $0.directory == directory && $0.path != file.place.path }
      return file.keeping(
        file.findings.map { finding in
          guard finding.isMovable else { return finding }
          let uses = others.lazy.compactMap { other in
            other.lines.otherLine(with: finding.name, than: -1).map { "\(other.path), line \($0 + 1)" }
          }
          return uses.first.map { finding.staying("\($0), has the variable, too") } ?? finding
        })
    }
  }
}
