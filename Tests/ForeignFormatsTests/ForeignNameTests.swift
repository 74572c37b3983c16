import ForeignFormats
import Testing

@Suite struct ForeignNameTests {
  @Test(arguments: ["kind", "git.paths", "swept-from", "sweep", "cargo.index-url", "ssh.hosts", "collection", "otp"])
  func namesOfCoffersOwnAreWrittenOtherwise(name: String) { #expect(ForeignName.attribute(name) == "field.\(name)") }

  @Test(arguments: ["pin", "git", "kinds", "Kind", "url", "field.kind"]) func otherNamesStay(name: String) {
    #expect(ForeignName.attribute(name) == name)
  }

  @Test func charactersThatNoAttributeMayHave() {
    #expect(ForeignName.attribute("a\n\u{1B}\u{85}b\0") == "a___b_")
    #expect(ForeignName.attribute("") == "field")
    // A name of its own that a control character hides stays another one.
    #expect(ForeignName.attribute("ki\u{7F}nd") == "ki_nd")
    #expect(ForeignName.plain(String(repeating: "é", count: 300)).utf8.count <= 204)
  }
}
