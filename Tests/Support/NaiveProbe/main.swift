// The memory tests must catch these programs: one treats secrets as any other text, one leaves a copy in one encoding.
//
//   NaiveProbe text [--stop]   reads a passphrase and a secret, a line each, makes JSON of them, and "wipes" its variables
//   NaiveProbe ENCODING        leaves the secret in ENCODING alone: raw, piece, utf16, hex, HEX, base64-0, base64-1 or base64-2
//   NaiveProbe crash           crashes while the address of the secret is in a register
import Foundation

struct Login: Codable {
  var passphrase: String
  var secret: String
}

func wipe(_ text: inout String) { text = String(repeating: "\0", count: text.utf8.count) }

/// As such programs are written.
func useAsText() throws {
  var passphrase = readLine() ?? ""
  var secret = readLine() ?? ""
  var data = Data(passphrase.utf8)
  var login = Login(passphrase: passphrase, secret: secret)
  let encoded = try JSONEncoder().encode(login)
  login = try JSONDecoder().decode(Login.self, from: encoded)
  print(data.count + encoded.count + login.secret.count)
  data.resetBytes(in: 0..<data.count)
  wipe(&passphrase)
  wipe(&secret)
  wipe(&login.passphrase)
  wipe(&login.secret)
}

/// `bytes` in `encoding`, byte by byte: no library may leave a copy of its own.
func encoded(_ bytes: UnsafeBufferPointer<UInt8>, _ encoding: String, into put: (UInt8) -> Void) {
  switch encoding {
  case "raw": for index in bytes.indices { unsafe put(bytes[index]) }
  case "piece": for index in 5..<13 { unsafe put(bytes[index]) }
  case "utf16":
    for index in bytes.indices {
      unsafe put(bytes[index])
      put(0)
    }
  case "hex", "HEX":
    let digits: StaticString = encoding == "hex" ? "0123456789abcdef" : "0123456789ABCDEF"
    for index in bytes.indices {
      unsafe put(digits.utf8Start[Int(bytes[index] >> 4)])
      unsafe put(digits.utf8Start[Int(bytes[index] & 15)])
    }
  default:
    // Base64 of as many other bytes as the encoding's last digit says, and the secret.
    let skipped = Int(encoding.suffix(1)) ?? 0
    let letters: StaticString = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
    func byte(_ index: Int) -> Int {
      guard index >= skipped else { return 0x41 }
      return index - skipped < bytes.count ? unsafe Int(bytes[index - skipped]) : 0
    }
    for start in stride(from: 0, to: bytes.count + skipped, by: 3) {
      let group = byte(start) << 16 | byte(start + 1) << 8 | byte(start + 2)
      for shift in [18, 12, 6, 0] { unsafe put(letters.utf8Start[group >> shift & 63]) }
    }
  }
}

/// Reads standard input to where it can really be wiped.
func leave(_ encoding: String) {
  let input = UnsafeMutablePointer<UInt8>.allocate(capacity: 256)
  let count = unsafe max(0, read(0, input, 256))
  let output = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: 1024)
  unsafe output.initialize(repeating: 0)
  var written = 0
  unsafe encoded(UnsafeBufferPointer(start: input, count: count), encoding) { byte in
    unsafe output[written] = byte
    written += 1
  }
  unsafe memset(input, 0, 256)
}

func crash() {
  let input = UnsafeMutablePointer<UInt8>.allocate(capacity: 256)
  _ = unsafe read(0, input, 256)
  // memcpy has the address of the secret in a register when it meets an address that is nowhere.
  if let nowhere = unsafe UnsafeMutableRawPointer(bitPattern: 16) { unsafe memcpy(nowhere, input, 256) }
}

switch CommandLine.arguments.dropFirst().first ?? "text" {
case "text":
  try useAsText()
  if CommandLine.arguments.contains("--stop") { raise(SIGSTOP) }
case "crash": crash()
case let encoding: leave(encoding)
}
