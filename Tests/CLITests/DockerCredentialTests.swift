import CofferTesting
import CredentialProtocols
import ProgramSecrets
import SecretMemory
import Testing

/// `coffer` as the helper of the real docker, which `Scripts/setup --tests` installs. It needs no engine: docker itself logs in where no
/// engine answers, and asks registries for manifests.
@Suite struct DockerCredentialTests {
  private static let registry =
    TranscriptTests.directory.dropLast("CLITests/Transcripts".utf8.count) + "Support/Registry/registry.py"

  @Test func loginManifestAndLogout() throws {
    let outcome = try Workspace().run(
      script: """
        exec 2>&1
        umask 077; mkdir bin docker; ln -s "$(command -v coffer)" bin/docker-credential-coffer; export PATH="$W/bin:$PATH"
        export DOCKER_HOST=unix://$W/none DOCKER_CONFIG=$W/docker SSL_CERT_FILE=$W/cert.pem
        echo '{"credsStore":"coffer"}' >docker/config.json
        head -c 32 /dev/urandom >key; coffer vault init --key-file key --no-passphrase >/dev/null; coffer vault unlock --key-file key
        openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=registry -addext subjectAltName=IP:127.0.0.1 \\
          -days 2 -keyout key.pem -out cert.pem 2>/dev/null
        cat key.pem cert.pem >both.pem; printf 'ada:first\\n' >users; mkfifo end; : >log
        python3 '\(Self.registry)' both.pem users log <end & server=$!
        exec 9>end
        until [ -s log ]; do kill -0 $server || exit 3; sleep 0.05; done
        host=127.0.0.1:$(head -n 1 log); : >log
        step() { echo "== $1"; shift; "$@" >said 2>&1; echo "status $?, users: $(sort -u log | tr '\\n' ' ')"; : >log; }
        stored() { coffer credential docker list | sed "s/$host/HOST/"; }
        login() { printf %s "$2" | docker login -u "$1" --password-stdin $host; }
        step refused login ada wrong; stored
        step login login ada first; stored; grep -c first docker/config.json
        step manifest docker manifest inspect $host/app:1; grep -o '"schemaVersion": 2' said
        coffer vault status | grep generation >before
        step again login ada first
        coffer vault status | grep generation | cmp - before && echo nothing written
        printf 'grace:second\\n' >users
        step changed docker manifest inspect $host/app:2
        step other login grace second; stored
        step other docker manifest inspect $host/app:3
        coffer lock
        step locked docker manifest inspect $host/app:4; grep -c 'no basic auth' said
        step locked login grace second; grep -o 'coffer is locked: coffer vault unlock' said
        coffer vault unlock --key-file key
        step logout docker logout $host; stored
        step away docker manifest inspect $host/app:5
        exec 9>&-; wait $server
        coffer agent stop
        """)
    #expect(
      outcome.output.split(separator: "\n").map(String.init) == [
        "== refused", "status 1, users: - ", "{}",
        "== login", "status 0, users: - ada ", #"{"HOST":"ada"}"#, "0",
        "== manifest", "status 0, users: - ada ", #""schemaVersion": 2"#,
        "== again", "status 0, users: - ada ", "nothing written",
        "== changed", "status 1, users: - ",
        "== other", "status 0, users: - grace ", #"{"HOST":"grace"}"#, "== other", "status 0, users: - grace ",
        "== locked", "status 1, users: - ", "1",
        "== locked", "status 1, users: - grace ", "coffer is locked: coffer vault unlock",
        "== logout", "status 0, users: ", "{}",
        "== away", "status 1, users: - ",
      ], "\(outcome.output)")
  }
}

@Suite struct DockerMessageTests {
  /// Any text comes out as it went in, whichever of its characters are escaped, and in whichever way.
  @Test func everySpellingOfATextIsTheText() throws {
    var random = SeededGenerator(seed: 5)
    for _ in 0..<2_000 {
      let text = Self.text(&random)
      let written = text.unicodeScalars.map { Self.spelling(of: $0, &random) }.joined()
      let message = #"{"Secret":"\#(written)" , "Username":"u","ServerURL":"s"}"#
      let credential = try DockerCredential(parsing: Secret(copying: Array(message.utf8)))
      #expect(credential.secret.copyIntoUnprotectedBytes() == Array(text.utf8), "\(message)")
      // And as an answer: what is written can be read.
      let answer = try SecretFilter.json.apply(to: credential.secret).copyIntoUnprotectedBytes()
      let again = try DockerCredential(
        parsing: Secret(copying: Array(#"{"ServerURL":"s","Username":"u","Secret":"#.utf8) + answer + [UInt8(ascii: "}")]))
      let isSame = again.secret.isEqual(to: credential.secret)
      #expect(isSame, "\(message)")
    }
  }

  /// A message that is cut off anywhere, or has a byte changed, is refused or understood, and never read beyond its end.
  @Test func noPartOfAMessageIsTaken() throws {
    let message = Array(#"{"ServerURL":"s\u00e9\ud83d\ude00","Username":"u\\","Secret":"p\"\n"}"#.utf8)
    for end in 0..<message.count {
      #expect(throws: CredentialError.self) { _ = try DockerCredential(parsing: Secret(copying: Array(message[..<end]))) }
    }
    for index in message.indices {
      for byte in UInt8.min...UInt8.max {
        var changed = message
        changed[index] = byte
        do { _ = try DockerCredential(parsing: Secret(copying: changed)) } catch { #expect(error is CredentialError) }
      }
    }
  }

  private static func text(_ random: inout SeededGenerator) -> String {
    let ranges: [ClosedRange<UInt32>] = [1...0x7F, 0x80...0x7FF, 0x800...0xD7FF, 0xE000...0xFFFF, 0x10000...0x10FFFF]
    var text = String.UnicodeScalarView()
    for _ in 0..<Int.random(in: 0...20, using: &random) {
      let value = UInt32.random(in: ranges.randomElement(using: &random)!, using: &random)
      text.append(Unicode.Scalar(value)!)
    }
    return String(text)
  }

  private static func spelling(of scalar: Unicode.Scalar, _ random: inout SeededGenerator) -> String {
    let short: [Unicode.Scalar: String] = [
      "\"": #"\""#, "\\": #"\\"#, "/": #"\/"#, "\u{8}": #"\b"#, "\u{C}": #"\f"#, "\n": #"\n"#, "\r": #"\r"#, "\t": #"\t"#,
    ]
    let mustEscape = scalar.value < 0x20 || scalar == "\"" || scalar == "\\"
    switch Int.random(in: 0...2, using: &random) {
    case 0 where !mustEscape: return String(scalar)
    case 1 where short[scalar] != nil: return short[scalar]!
    default:
      return String(scalar).utf16.map { unit in
        let digits = String(unit, radix: 16, uppercase: Bool.random(using: &random))
        return "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
      }.joined()
    }
  }
}
