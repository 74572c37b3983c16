import Foundation

/// An example in a document: a fenced block, or a display of the manual with its kind in a comment before it.
struct Block {
  /// All the kinds that there are. There is no kind for what is not tested.
  enum Kind: String, CaseIterable {
    /// Commands for a shell, all of which must succeed.
    case shell = "sh"
    /// Commands after `$`, and what they print.
    case session = "console"
    /// The same at a terminal, where somebody types.
    case terminal = "console tty"
    /// Commands after `$` in a network in which the servers of `servers` answer, see there.
    case network = "console network"
    /// The targets of the Makefile.
    case make = "sh make"
    /// Packages to install, which the package itself names.
    case packages = "sh root"
    /// Commands of the Swift toolchain: what they name must exist. They would run for minutes.
    case toolchain = "sh toolchain"
    /// A part of LibraryExample.swift, of others beside it, or of a program in Examples, which are compiled and run.
    case library = "swift"
    /// A manifest of a package that depends on this one.
    case manifest = "swift package"
  }

  let kind: String
  /// Where its first line stands, counted from 1.
  let line: Int
  let lines: [String]

  static func all(in document: Document) -> [Block] {
    document.isManual ? displays(document.lines) : fenced(document.lines)
  }

  private static func fenced(_ lines: [String]) -> [Block] {
    var blocks: [Block] = []
    var open: (kind: String, start: Int)?
    for (index, line) in lines.enumerated() where line.hasPrefix("```") {
      if let block = open {
        blocks.append(Block(kind: block.kind, line: block.start + 1, lines: Array(lines[block.start..<index])))
        open = nil
      } else {
        open = (String(line.dropFirst(3)), index + 1)
      }
    }
    if let open { blocks.append(Block(kind: "not closed", line: open.start, lines: [])) }
    return blocks
  }

  private static func displays(_ lines: [String]) -> [Block] {
    lines.indices.filter { lines[$0].hasPrefix(".Bd") }.map { start in
      let before = start > 0 ? lines[start - 1] : ""
      let kind = before.hasPrefix(#".\" "#) ? String(before.dropFirst(4)) : "no kind"
      let body = lines[(start + 1)...].prefix { $0 != ".Ed" }.map {
        $0.replacing(#"\e"#, with: #"\"#).replacing(#"\&"#, with: "")
      }
      return Block(kind: kind, line: start + 2, lines: Array(body))
    }
  }

  /// The commands after `$ `, continued where a line ends in a backslash, each with the lines that follow it.
  var commands: [(command: String, output: [String])] {
    var commands: [(command: String, output: [String])] = []
    for line in lines {
      if line.hasPrefix("$ ") {
        commands.append((String(line.dropFirst(2)), []))
      } else if let last = commands.indices.last {
        if commands[last].command.hasSuffix("\\"), commands[last].output.isEmpty {
          commands[last].command += "\n" + line
        } else {
          commands[last].output.append(line)
        }
      }
    }
    return commands
  }
}

extension String {
  /// Whether this line is what `expected` says; `…` or `...` stand for any text.
  func isLine(_ expected: String) -> Bool {
    var rest = self[...]
    let parts = expected.replacing("...", with: "…").components(separatedBy: "…")
    for (index, part) in parts.enumerated() {
      guard !part.isEmpty else { continue }
      guard
        let found = index == 0
          ? (rest.hasPrefix(part) ? rest.startIndex..<rest.index(rest.startIndex, offsetBy: part.count) : nil)
          : index == parts.count - 1 && rest.hasSuffix(part)
            ? rest.index(rest.endIndex, offsetBy: -part.count)..<rest.endIndex
            : rest.range(of: part)
      else { return false }
      rest = rest[found.upperBound...]
    }
    return parts.last == "" && parts.count > 1 || rest.isEmpty
  }
}
