import Foundation
import Testing

/// Errors in the use of a typed key that the compiler finds. Each case is compiled with the line, which must fail with the given
/// reason; a correct use must succeed.
@Suite struct SettingKeyTests {
  private static func compile(_ line: String) throws -> (succeeded: Bool, output: String) {
    try CompileFailureTests.compile(
      program: """
        import PreferenceStore
        struct Point { var x = 0 }
        extension SettingKeys {
          var volume: Key<Double> { Key("volume", default: 0.8) }
          var nickname: Key<String?> { Key("nickname") }
        }
        func use(_ defaults: UserDefaults) {
          \(line)
        }
        """)
  }

  @Test(
    "keys are checked by the compiler",
    arguments: [
      (#"defaults[\.volum] = 0.5"#, "has no member 'volum'"),
      (#"defaults[\.volume] = "loud""#, "cannot (assign|convert)"),
      (#"defaults[\.volume] = nil"#, "'nil' cannot be assigned"),
      (#"let text: String = defaults[\.volume]; _ = text"#, "cannot convert"),
      (#"_ = Key("point", default: Point())"#, "conform to 'Storable'"),
      (#"_ = AppStorage(wrappedValue: Point(), "point")"#, "conform to '(Storable|RawRepresentable)'"),
    ]) func misuse(line: String, reason: String) throws
  {
    let result = try Self.compile(line)
    #expect(!result.succeeded, "\(line) compiled")
    #expect(result.output.range(of: reason, options: .regularExpression) != nil, "\(line): \(result.output)")
  }

  @Test func rightUseCompiles() throws {
    let result = try Self.compile(#"defaults[\.volume] = 0.5; defaults[\.nickname] = nil; _ = AppStorage(\.volume)"#)
    #expect(result.succeeded, "\(result.output)")
  }
}
