import ProgramSecrets
import SecretMemory
import Testing

@Suite struct ProgramEnvironmentTests {
  private struct Named: Error, Equatable {
    let name: String
    let code: TextError.Code?
  }

  private static func entries(_ environment: ProgramEnvironment, _ secret: [UInt8]) throws -> [[UInt8]] {
    let held = HeldSecret(try Secret(copying: secret))
    let block = try environment.block { _ in
      held
    } failure: {
      Named(name: $0, code: ($1 as? TextError)?.code)
    }
    return unsafe block.lend { pointers in
      var entries: [[UInt8]] = []
      var next = unsafe pointers
      while let entry = unsafe next.pointee {
        var bytes: [UInt8] = []
        while unsafe entry[bytes.count] != 0 { bytes.append(UInt8(bitPattern: unsafe entry[bytes.count])) }
        entries.append(bytes)
        unsafe next += 1
      }
      return entries
    }
  }

  @Test func aValueThatIsAReferenceAsAWholeIsReplaced() throws {
    let environment = try ProgramEnvironment(
      ["A=coffer://g/s/a", "B=x coffer://g/s/a", "C={{ coffer://g/s/a }}", "D", "E=="].map { Array($0.utf8) } + [
        [0x46, 0x3D, 0xFF]
      ])
    let entries = Set(try Self.entries(environment, Array("s3cret".utf8)))
    #expect(
      entries
        == Set(
          ["A=s3cret", "B=x coffer://g/s/a", "C={{ coffer://g/s/a }}", "D", "E=="].map { Array($0.utf8) } + [[0x46, 0x3D, 0xFF]]))
  }

  @Test func aLaterValueReplacesAnEarlierOne() throws {
    var environment = try ProgramEnvironment([Array("A=1".utf8), Array("A=2".utf8)])
    environment.set("A", to: try SecretText(value: Array("<{{ coffer://g/s }}>".utf8)))
    #expect(environment.plainValue(of: "A") == nil)
    #expect(try Self.entries(environment, [0x78, 0xFE]) == [Array("A=<".utf8) + [0x78, 0xFE, 0x3E]])
    environment.set("A", to: SecretText(plain: Array("3".utf8)))
    #expect(try environment.plainValue(of: "A") == [0x33] && Self.entries(environment, []) == [Array("A=3".utf8)])
  }

  @Test func aValueThatNoVariableHoldsIsRefusedWithItsName() throws {
    let environment = try ProgramEnvironment([Array("A=coffer://g/s/a".utf8)])
    #expect(throws: Named(name: "A", code: .valueHasZeroByte)) { try Self.entries(environment, [0x61, 0, 0x62]) }
    // "A=", the value and a zero byte are 131,072 bytes.
    let longest = [UInt8](repeating: 0x61, count: 131_069)
    #expect(try Self.entries(environment, longest).first?.count == 131_071)
    #expect(throws: Named(name: "A", code: .variableTooLong)) { try Self.entries(environment, longest + [0x61]) }
  }
}
