import CofferConsole
internal import CofferPropertyLists
import TextEncodings

extension JSON {
  /// Texts, whole numbers, Booleans, arrays and dictionaries as they are; a number that is not whole, or was stored as such,
  /// with a point or an exponent. Types that JSON does not have become an object of two members, `encoding` and `value`:
  /// `base64`, `date`, `real` for numbers that are not finite, `uid`.
  init(_ value: PropertyListValue) {
    switch value {
    case .string(let text): self = .text(text)
    case .integer(let number): self = .integer(number)
    case .unsigned(let number): self = .natural(number)
    case .real(let number): self = number.isFinite ? .real(number) : Self.encoded("real", .text(number.generalText))
    case .boolean(let boolean): self = .boolean(boolean)
    case .date(let date): self = Self.encoded("date", DateText.iso(date).map { .text($0) } ?? .text(DateText.description(date)))
    case .data(let bytes): self = Self.encoded("base64", .text(Base64Text.encode(bytes)))
    case .array(let elements): self = .array(elements.map { JSON($0) })
    case .dictionary(let dictionary): self = JSON(dictionary)
    case .uid(let uid): self = Self.encoded("uid", .natural(UInt64(uid)))
    }
  }

  init(_ dictionary: PropertyListDictionary) {
    self = .object(dictionary.sorted.map { ($0.key, JSON($0.value)) })
  }

  private static func encoded(_ encoding: String, _ value: JSON) -> JSON {
    .object([("encoding", .text(encoding)), ("value", value)])
  }
}
