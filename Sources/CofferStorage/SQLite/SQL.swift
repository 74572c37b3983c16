import VaultCore

/// Every statement that is ever run on a vault that exists.
enum SQL: String {
  // Before the schema is known to be right: none of these reads it.
  case checkCells = "PRAGMA cell_size_check=ON"
  case noMapping = "PRAGMA mmap_size=0"
  case temporaryInMemory = "PRAGMA temp_store=MEMORY"
  case overwriteDeleted = "PRAGMA secure_delete=ON"

  case temporaryInFile = "PRAGMA temp_store=FILE"
  case rebuild = "VACUUM"

  case beginRead = "BEGIN"
  case beginWrite = "BEGIN IMMEDIATE"
  case commit = "COMMIT"
  case rollback = "ROLLBACK"

  case schemaVersion = "PRAGMA schema_version"
  case formatVersion = "PRAGMA user_version"
  case program = "PRAGMA application_id"
  case pageCount = "PRAGMA page_count"
  case dataVersion = "PRAGMA data_version"
  case schema = "SELECT type,name,tbl_name,sql FROM sqlite_schema ORDER BY name"

  // EXTRA is FULL in WAL mode. With a rollback journal it syncs the directory as well, without which an acknowledged commit can
  // be lost.
  case durable = "PRAGMA synchronous=EXTRA"
  case journalMode = "PRAGMA journal_mode"
  case useLog = "PRAGMA journal_mode=WAL"
  case useJournal = "PRAGMA journal_mode=DELETE"
  case exclusive = "PRAGMA locking_mode=EXCLUSIVE"
  case shared = "PRAGMA locking_mode=NORMAL"

  case header = "SELECT v FROM hdr WHERE k=?1"
  case headerKeys = "SELECT k FROM hdr ORDER BY k"
  case node = "SELECT b FROM node WHERE p=?1"
  // As the columns of a record, below.
  case nodeKeys = "SELECT CASE WHEN typeof(p)='blob' AND length(p)<=17 THEN p END FROM node ORDER BY p"
  // To compare a row that has overflow pages with a bound, SQLite reads all of them: a scan has no upper bound, and no lower one if it
  // begins at the start.
  case record = "SELECT $row FROM rec WHERE id=?1"
  case allRecords = "SELECT $row FROM rec ORDER BY id"
  case recordsFrom = "SELECT $row FROM rec WHERE id>=?1 ORDER BY id"
  case secret = "SELECT s FROM rec WHERE id=?1"
  // The draft has no column d: a record's secret stands in the place of its digest.
  case recordsOfDraft = "SELECT $draft FROM draft ORDER BY id"

  case writeHeader = "INSERT INTO hdr(k,v) VALUES(?1,?2) ON CONFLICT(k) DO UPDATE SET v=excluded.v"
  case writeNode = "INSERT INTO node(p,b) VALUES(?1,?2) ON CONFLICT(p) DO UPDATE SET b=excluded.b"
  case writeRecord = """
    INSERT INTO rec(id,grp,m,a,d,s) VALUES(?1,?2,?3,?4,?5,?6) \
    ON CONFLICT(id) DO UPDATE SET grp=excluded.grp,m=excluded.m,a=excluded.a,d=excluded.d,s=excluded.s
    """
  case removeHeader = "DELETE FROM hdr WHERE k=?1"
  case removeNode = "DELETE FROM node WHERE p=?1"
  case removeRecord = "DELETE FROM rec WHERE id=?1"

  // Copies of whole vaults.
  case recordCount = "SELECT count(*) FROM rec"
  case nodeCount = "SELECT count(*) FROM node"
  case removeAllHeader = "DELETE FROM hdr"
  case removeAllNodes = "DELETE FROM node"
  case removeNamelessRecords = "DELETE FROM rec WHERE typeof(id)<>'blob' OR length(id)<>16"
  case removeNamelessNodes = "DELETE FROM node WHERE typeof(p)<>'blob' OR length(p)>17"
  case removeAllRecords = "DELETE FROM rec"
  case allHeader = "SELECT k,v FROM hdr ORDER BY k"
  case allNodes = "SELECT p,b FROM node ORDER BY p"
  case wholeRecords = "SELECT id,grp,m,a,d,s FROM rec ORDER BY id"
  case copyHeader = "INSERT INTO hdr(k,v) VALUES(?1,?2)"
  case copyNode = "INSERT INTO node(p,b) VALUES(?1,?2)"
  case copyRecord = "INSERT INTO rec(id,grp,m,a,d,s) VALUES(?1,?2,?3,?4,?5,?6)"

  var text: String {
    rawValue.replacing("$row", with: Self.row(digest: "d", RecordHead.digestByteCount))
      .replacing("$draft", with: Self.row(digest: "s", RecordHead.maximumFieldByteCount))
  }

  /// The columns of a record, and the length of `s`. A column of another type or length is NULL: fetched as it is, a very long one would
  /// end the scan. SQLite finds type and length in the head of the row, and leaves the pages of `s` alone.
  private static func row(digest: String, _ digestByteCount: Int) -> String {
    [("id", 16), ("grp", 16), ("m", 16), ("a", RecordHead.maximumFieldByteCount), (digest, digestByteCount)]
      .map { name, count in "CASE WHEN typeof(\(name))='blob' AND length(\(name))<=\(count) THEN \(name) END," }.joined()
      + "CASE WHEN typeof(s)='blob' THEN length(s) END"
  }
}
