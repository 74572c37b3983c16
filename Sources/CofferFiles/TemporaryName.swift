/// Names for files that are being made: `.NAME.<16 hexadecimal digits>.new` in the directory where the file is going to be.
package enum TemporaryName {
  package static func next(for path: String) -> String {
    "\(Path.parent(of: path))/.\(Path.name(of: path)).\(hexadecimal(.random(in: 0 ... .max))).new"
  }

  /// 16 digits.
  package static func hexadecimal(_ number: UInt64) -> String {
    let digits = String(number, radix: 16)
    return String(repeating: "0", count: 16 - digits.utf8.count) + digits
  }

  /// The name that a temporary file is to get. Returns nil for a name of another form.
  package static func name(of candidate: String) -> String? {
    let bytes = Array(candidate.utf8)
    guard bytes.count > 22, bytes[0] == UInt8(ascii: "."), bytes.suffix(4).elementsEqual(".new".utf8) else { return nil }
    let digits = bytes.dropLast(4).suffix(17)
    let isNumbered =
      digits.first == UInt8(ascii: ".")
      && digits.dropFirst().allSatisfy {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains($0)
      }
    return isNumbered ? String(decoding: bytes.dropFirst().dropLast(21), as: UTF8.self) : nil
  }

  /// The paths of files that interrupted processes have left.
  package static func leftovers(of name: String, in directory: String) -> [String] {
    leftovers(in: directory) { $0 == name }
  }

  /// - Parameter isWanted: Whether files that are to get this name are among them.
  package static func leftovers(in directory: String, where isWanted: (String) -> Bool) -> [String] {
    let names = (try? OpenDirectory.foreign(directory).names()) ?? []
    return names.map(\.description).filter { name(of: $0).map(isWanted) ?? false }.map { "\(directory)/\($0)" }
  }
}
