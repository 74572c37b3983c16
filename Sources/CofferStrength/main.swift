import CZxcvbn
import CofferFiles
import Glibc

// coffer-strength
//
// Reads a passphrase on descriptor 0 and prints the logarithm, base 10, of the number of guesses that find it, as in "8.3". It is a
// separate program because the library copies what it examines into ordinary memory: the copies go with the process. `coffer` starts it
// when a passphrase is made, and does not link the library.

/// The bytes of the passphrase that count: the library takes the square of the length.
let limit = 256
let pageByteCount = 4096

Hardening.begin()
Hardening.hide()
let page = UnsafeMutableRawPointer.allocate(byteCount: pageByteCount, alignment: pageByteCount)
unsafe memset(page, 0, pageByteCount)
// The library's copies are not locked, so a failure here changes little.
_ = unsafe mlock(page, pageByteCount)
var count = 0
while count < limit {
  let read = unsafe Glibc.read(STDIN_FILENO, page + count, limit - count)
  if read < 0, errno == EINTR { continue }
  guard read >= 0 else { exit(1) }
  if read == 0 { break }
  count += read
}
// In bits.
let entropy = unsafe ZxcvbnMatch(page.assumingMemoryBound(to: CChar.self), nil, nil)
unsafe explicit_bzero(page, pageByteCount)
let tenths = Int((max(0, entropy) * 3.010_299_956_6).rounded(.down))
let text = "\(tenths / 10).\(tenths % 10)\n"
exit(unsafe write(STDOUT_FILENO, text, text.utf8.count) == text.utf8.count ? 0 : 1)
