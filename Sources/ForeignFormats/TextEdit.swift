/// A change of a text: bytes and their successors.
package struct TextEdit: Sendable, Equatable {
  package let range: Range<Int>
  package let text: String

  package init(_ range: Range<Int>, _ text: String = "") { (self.range, self.text) = (range, text) }
}
