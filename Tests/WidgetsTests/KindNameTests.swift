import AppContainers
import CofferFiles
import Testing

@testable import CofferWidgets

@Suite struct KindNameTests {
  @Test(arguments: ["LuckyNumber", "a.b_c", "../x", "100 %", "天気", "k-1"]) func asFileAndBack(kind: String) throws {
    let name = try KindName(kind)
    #expect(KindName(name.file)?.kind == kind)
    #expect(!name.file.bytes.contains(UInt8(ascii: "/")) && name.file.bytes.first != UInt8(ascii: "."))
  }

  @Test(arguments: ["x", ".kind", "%zz.kind", "a%41.kind", "%2f.kind", "x.kind.tmp"]) func noKind(file: String) throws {
    let name = try FileName(file)
    #expect(KindName(name) == nil)
  }
}
