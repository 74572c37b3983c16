import Children
import CofferPreferences
import CofferPropertyLists
import Testing

/// A value that one process has written is the next that another one reads, and never a part of it.
@Suite struct CoherenceTests {
  @Test(arguments: [[], ["unmapped"], ["unmapped", "mapped"], ["mapped", "unmapped"]])
  func afterTheAcknowledgementTheNextValueIsTheNewOne(kinds: [String]) throws {
    let place = Place()
    let isReaderUnmapped = kinds.first == "unmapped"
    let isWriterUnmapped = kinds.last == "unmapped"
    let reader = isReaderUnmapped ? place.writer("unmapped") : place.writer()
    let writer = isWriterUnmapped ? place.writer("unmapped") : place.writer()
    for number in 0..<(isLong ? 20_000 : 2000) {
      #expect(writer.ask("set n \(number)") == "ok")
      let found = reader.ask("get n")
      if found != "\(number)" { Issue.record("\(number): \(found)") }
      // The journal and the property list are replaced in between.
      if number % 200 == 0 { #expect(writer.ask("compact") == "ok") }
      if number % 333 == 0 { #expect(reader.ask("checkpoint") == "ok") }
    }
  }

  @Test("two keys that are set together are never seen apart", arguments: [false, true]) func neverHalf(isUnmapped: Bool) {
    let place = Place()
    #expect(place.write("pair 0") == ["ok"])
    let reader = isUnmapped ? place.writer("unmapped") : place.writer()
    let writer = place.writer()
    var pairs = 0
    while pairs < (isLong ? 20_000 : 200) {
      reader.send("torn 500")
      var torn: String?
      while torn == nil {
        pairs += 1
        #expect(writer.ask("pair \(pairs)") == "ok")
        if pairs % 50 == 0 { #expect(writer.ask("compact") == "ok") }
        torn = reader.line(within: 0)
      }
      #expect(torn == "0")
    }
  }

  /// The control: values set one after the other are seen one after the other.
  @Test func oneAfterTheOtherIsSeenApart() {
    let place = Place()
    #expect(place.write("pair 0") == ["ok"])
    let reader = place.writer()
    let writer = place.writer()
    #expect(writer.ask("set a 1") == "ok")
    #expect(reader.ask("torn 1") == "1")
    #expect(writer.ask("set b 1") == "ok")
    #expect(reader.ask("torn 1") == "0")
  }
}
