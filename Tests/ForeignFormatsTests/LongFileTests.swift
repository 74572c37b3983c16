import ForeignFormats
import Glibc
import SecretMemory
import Testing

/// Eight times as many entries take eight times as long to read. A search of all earlier ones for each would take 64 times as long.
@Suite(.serialized) struct LongFileTests {
  struct Format: CustomTestStringConvertible, Sendable {
    let testDescription: String
    var begin = ""
    var end = ""
    var separator = "\n"
    let row: @Sendable (Int) -> String
    let items: @Sendable (SourceText) throws -> ForeignItems

    func file(_ count: Int) throws -> SourceText {
      try FormatTests.text(begin + (0..<count).map(row).joined(separator: separator) + end + "\n")
    }
  }

  static let formats = [
    Format(testDescription: "dotenv", row: { "N\($0)=p\($0)" }, items: { try DotenvFormat.items(of: $0, service: "s") }),
    Format(testDescription: "netrc", row: { "machine h\($0) login u password p" }, items: NetrcFormat.items),
    Format(testDescription: "git-credentials", row: { "https://u:p@h\($0)" }, items: GitCredentialsFormat.items),
    Format(testDescription: "npmrc", row: { "//h\($0)/:_authToken=t" }, items: NpmrcFormat.items),
    Format(testDescription: "pypirc", row: { "[s\($0)]\npassword = p" }, items: PypircFormat.items),
    Format(testDescription: "aws", row: { "[s\($0)]\naws_secret_access_key = p" }, items: AWSFormat.items),
    Format(
      testDescription: "csv", begin: "url,username,password\n", row: { "h\($0).example,u,p" },
      items: { try CSVFormat.items(of: $0) }),
    Format(
      testDescription: "docker", begin: #"{"auths":{"#, end: "}}", separator: ",\n", row: { #""h\#($0)":{"auth":"YTpi"}"# },
      items: DockerFormat.items),
    Format(
      testDescription: "bitwarden", begin: #"{"items":["#, end: "]}", separator: ",\n",
      row: { #"{"name":"n\#($0)","login":{"password":"p"}}"# }, items: BitwardenFormat.items),
    Format(
      testDescription: "1pux", begin: #"{"accounts":[{"vaults":[{"items":["#, end: "]}]}]}", separator: ",\n",
      row: { #"{"overview":{"title":"n\#($0)"},"details":{"password":"p"}}"# },
      items: { try OnePasswordFormat.items(of: $0).items }),
    Format(
      testDescription: "kdbx", begin: "<KeePassFile><Root><Group>", end: "</Group></Root></KeePassFile>",
      row: {
        "<Entry><String><Key>Title</Key><Value>n\($0)</Value></String><String><Key>Password</Key><Value>p</Value></String></Entry>"
      }, items: { try KeePassFormat.items(of: $0).items }),
    Format(
      testDescription: "cargo", row: { "[registries.r\($0)]\ntoken = \"t\"" },
      items: { try ForeignItems(CargoFormat.tokens(of: $0).map(\.item)) }),
    Format(
      testDescription: "kubectl", begin: "users:\n", row: { "- name: u\($0)\n  user:\n    token: t\n    n\($0): x" },
      items: { try ForeignItems(KubeFormat.users(of: $0).map(\.item)) }),
  ]

  /// The time of this thread alone, whatever else the machine does.
  private static func seconds(_ body: () throws -> Void) rethrows -> Double {
    func now() -> Double {
      var time = timespec()
      unsafe clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
      return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }
    let start = now()
    try body()
    return now() - start
  }

  @Test(arguments: formats) func theTimeGrowsAsTheFile(format: Format) throws {
    let (short, long) = try (format.file(500), format.file(4000))
    func read(_ text: SourceText, _ count: Int) throws {
      let found = try format.items(text)
      #expect(found.items.count == count && found.lost.isEmpty)
    }
    try read(short, 500)
    let once = try Self.seconds { try read(short, 500) }
    let longer = try Self.seconds { try read(long, 4000) }
    #expect(longer < once * 24, "\(longer / once)")
  }
}
