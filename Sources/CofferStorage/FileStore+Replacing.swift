internal import CofferFiles
package import VaultCore

extension FileStore {
  /// Replaces the rows by those of a copy, in one transaction: other processes see the rows before or those after it.
  /// - Parameters:
  ///   - continuing: Gets the rows before, and returns those of `hdr` that change; nil: `hdr` is that of the copy. If it throws, nothing is changed.
  ///   - total: How many records the copy has.
  ///   - verify: Gets the rows before they are committed. If it throws, nothing is changed.
  /// - Throws: what the closures throw; as `commit`; `columnMismatch`, `storageDamaged` for rows of the copy.
  package func replaceRows(
    by copy: FileStore, total: UInt64, continuing: (any Rows) throws -> Change?, step: (UInt64, UInt64) throws -> Void,
    verify: (any Rows) throws -> Void
  ) throws {
    try copy.read { source in
      let source = try copy.connection(of: source)
      try writing { rows in
        let change = try continuing(rows)
        let content: RowCopy.Rows = change == nil ? .all : .content
        let target = try connection(of: rows)
        let rowCopy = RowCopy(source: source, target: target)
        try rowCopy.clear(content)
        try rowCopy.run(content, total: total, step: step)
        try change?.apply(to: target)
        try verify(rows)
      }
    }
  }
}
