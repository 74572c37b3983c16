@testable import EtcdEngine

/// The user `root` of a server with authentication, which has one role, for the space of the tests and for mailboxes.
struct Keeper {
  /// As the numbers of protobuf.
  enum Permission: UInt64 { case read, write, readAndWrite }

  private let connection: EtcdConnection

  fileprivate init(_ connection: EtcdConnection) { self.connection = connection }

  fileprivate func call(_ method: String, _ fields: (inout MessageWriter) -> Void...) throws {
    var message = MessageWriter()
    for field in fields { field(&message) }
    try connection.call("Auth/\(method)", message.bytes)
  }

  fileprivate func text(_ field: UInt64, _ text: String) -> (inout MessageWriter) -> Void {
    { $0.data(field, Array(text.utf8)) }
  }

  func grant(_ user: String, _ role: String = "team") throws { try call("UserGrantRole", text(1, user), text(2, role)) }
  func revoke(_ user: String) throws { try call("UserRevokeRole", text(1, user), text(2, "team")) }
}

extension Server {
  /// Each user is the name in a certificate, and has no role yet.
  func authenticate(_ users: [String], may permission: Keeper.Permission) throws -> Keeper {
    files.issue("root", by: "ca")
    let root = try Keeper(
      EtcdConnection([endpoint], files["root"], connectMilliseconds: 10_000, callMilliseconds: 30_000))
    try root.call("RoleAdd", root.text(1, "root"))
    try root.call("RoleAdd", root.text(1, "team"))
    for part in ["\(Server.space)", "join"] {
      try root.call("RoleGrantPermission", root.text(1, "team")) { message in
        var bytes = MessageWriter()
        bytes.integer(1, permission.rawValue)
        bytes.data(2, Array("coffer/1/\(part)/".utf8))
        bytes.data(3, Array("coffer/1/\(part)0".utf8))
        message.data(2, bytes.bytes)
      }
    }
    for user in ["root"] + users { try root.call("UserAdd", root.text(1, user)) { $0.data(3, [8, 1]) } }
    try root.grant("root", "root")
    try root.call("AuthEnable")
    return root
  }
}
