/// A format of before, told by the two marks of its SQLite file. `coffer vault migrate` converts such a file; nothing else opens it.
struct OldFormat {
  /// The application id.
  let program: Int64
  /// `user_version`.
  let version: Int64
  let schema: [Container.Object]
  /// The statements before and after the conversion of the records, which is a step to the format after this one.
  let before: [String]
  let after: [String]

  /// Oldest first. The last one becomes a vault of the format of `Container`.
  static let all = [draft]

  /// "CFV1", the draft of format 1: records without digests, and with an index.
  static let draft = OldFormat(
    program: 0x4346_5631, version: 1,
    schema: [
      Container.schema[0], Container.schema[1],
      Container.Object(
        "table", "rec", on: "rec",
        "CREATE TABLE rec(id BLOB PRIMARY KEY,grp BLOB NOT NULL,m BLOB NOT NULL,a BLOB NOT NULL,s BLOB NOT NULL) WITHOUT ROWID"),
      Container.Object("index", "rec_grp", on: "rec", "CREATE INDEX rec_grp ON rec(grp)"),
    ],
    before: ["DROP INDEX rec_grp", "ALTER TABLE rec RENAME TO draft", Container.schema[2].sql],
    after: ["DELETE FROM node", "DROP TABLE draft", "PRAGMA application_id=\(Container.program)"])

  /// The format of a file with these marks; nil if it is none of before.
  static func marked(_ program: Int64, _ version: Int64) -> OldFormat? {
    all.first { $0.program == program && $0.version == version }
  }
}
