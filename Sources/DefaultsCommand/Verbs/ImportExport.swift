import CofferConsole
internal import CofferPropertyLists

extension DefaultsSession {
  /// Over the values that are there, as macOS does: keys that are not in the file stay.
  func importFile(_ domain: DefaultsInvocation.Domain, _ path: String) throws {
    let bytes = try Self.content(of: path)
    let value: PropertyListValue
    do {
      value = try PropertyList.read(bytes).value
    } catch {
      let detail = error.detail.isEmpty ? error.code.name : "\(error.code.name): \(error.detail)"
      throw DefaultsFailure.said("Could not parse property list from \(path) due to \(detail)")
    }
    guard case .dictionary(let values) = value else {
      throw DefaultsFailure.said("Property list \(path) was not a dictionary\nDefaults have not been changed.")
    }
    let domain = try store.domain(domain)
    try refuseSecrets(values.sorted, domain)
    try domain.apply(values.sorted.map { ($0.key, $0.value) })
  }

  private static func content(of path: String) throws -> [UInt8] {
    if path == "-" { return try Descriptor.input.contents(limit: PropertyList.maximumByteCount) }
    let file = try Descriptor.open(path)
    defer { file.close() }
    return try file.contents(limit: PropertyList.maximumByteCount)
  }

  /// A domain that is not there makes no file: a backup of nothing is a mistake.
  func exportFile(_ domain: DefaultsInvocation.Domain, _ path: String) throws {
    let domain = try store.domain(domain)
    let values = try domain.values()
    guard !values.isEmpty else { throw DefaultsFailure.said("The domain \(domain.name) does not exist") }
    guard path == "-" else {
      let bytes = try PropertyList.write(.dictionary(values), .binary)
      return try LockedFile.replace(path) { _ in bytes }
    }
    do {
      let bytes = try PropertyList.write(.dictionary(values), .xml)
      try Descriptor.output.write(String(decoding: bytes, as: UTF8.self))
    } catch let error as PropertyListError where error.code == .notRepresentable {
      throw DefaultsFailure.failed(
        "\(domain.title): XML cannot carry \(error.detail)", hint: "export it to a file, which is binary")
    }
  }
}
