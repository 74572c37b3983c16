import KeyedHashes
import SecretMemory
import Testing

/// The clipboard of a real display: Xvfb, and Debian's xclip. `Scripts/setup --tests` installs both.
@Suite struct ClipboardTests {
  @Test func theClipboardOfADisplay() throws {
    let outcome = try Workspace().run(
      script: """
        exec 2>&1
        umask 077; head -c 32 /dev/urandom >key; coffer vault init --key-file key --no-passphrase >/dev/null
        coffer vault unlock --key-file key
        mkfifo number; Xvfb -displayfd 3 -nolisten tcp 3>number >/dev/null 2>&1 & server=$!
        read -r number <number; export DISPLAY=:$number
        head -c 60000 /dev/urandom | base64 -w 0 | head -c 65536 >long; coffer set long/text <long; printf 'ünï\\tcode\\n' >short
        coffer set short/text --file short
        board() { xclip -selection clipboard -out 2>/dev/null; }
        # xclip ends before the display has what it copies. coffer waits for it.
        shows() { until board | cmp -s - "$1"; do sleep 0.05; done; }
        has() { board | cmp - "$1" && echo same; }
        : >empty; printf other >other
        copy() { coffer copy "$@" --vault "$W/coffer/vault.coffer"; }
        ended() { while pgrep -f "clear-clipboard.*$W" >/dev/null; do sleep 0.05; done; }
        copy short/text --clear-after 3600; has short
        kill $(pgrep -f "clear-clipboard.*$W"); ended; shows empty; echo "cleared at the end"
        copy short/text --clear-after 1; ended; shows empty; echo "cleared after the time"
        copy long/text --clear-after 3600; has long
        coffer lock; ended; shows empty; echo "cleared by the lock"
        coffer vault unlock --key-file key
        copy short/text --clear-after 3600; has short; xclip -selection clipboard -in <other 2>/dev/null; shows other
        kill $(pgrep -f "clear-clipboard.*$W"); ended; echo "another: $(board)"
        coffer agent stop; kill $server; wait $server
        DISPLAY=:$number coffer copy short/text --key-file key; echo $?
        """)
    let note = "note: a clipboard manager may keep it: xclip cannot mark it as secret"
    #expect(
      outcome.output.split(separator: "\n").map(String.init) == [
        "short/text: on the clipboard for 3600 seconds", note, "same", "cleared at the end",
        "short/text: on the clipboard for 1 second", note, "cleared after the time",
        "long/text: on the clipboard for 3600 seconds", note, "same", "cleared by the lock",
        "short/text: on the clipboard for 3600 seconds", note, "same", "another: other",
        "coffer: xclip: has failed, and the clipboard is as it was",
        "hint: xclip must reach the display; --osc52 asks the terminal to copy", "12",
      ], "\(outcome.output)")
  }
}

@Suite struct KeyedHashTests {
  /// RFC 2202 and RFC 4231: a short key, one that is longer than a block, and none.
  @Test(arguments: [
    (
      KeyedHash.sha1, "b617318655057264e28bc0b6fb378c8ef146be00", "90d0dace1c1bdc957339307803160335bde6df2b",
      "fbdb1d1b18aa6c08324b7d64b71fb76370690e1d"
    ),
    (
      .sha256,
      "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7",
      "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54",
      "b613679a0814d9ec772f95d778c35fc5ff1697c493715653c6c712144292c5ad"
    ),
    (
      .sha512,
      "87aa7cdea5ef619d4ff0b4241a1d6cb02379f4e2ce4ec2787ad0b30545e17cdedaa833b7d6b8a702038b274eaea3f4e4be9d914eeb61f1702e696c203a126854",
      "80b24263c7c1a3ebb71493c1dd7be8b49b46d1f41b4aeec1121b013783f8f3526b56d037e05f2598bd0fd2215d6a1e5295e64f73f63f0aec8b915a985d786598",
      "b936cee86c9f87aa5d3c6f2e84cb5a4239a5fe50480a6ec66b70ab5b1f4ac6730c6c515421b327ec1d69402e53dfb49ad7381eb067b338fd7b0cb22247225d47"
    ),
  ])
  func vectors(_ hash: KeyedHash, short: String, long: String, empty: String) throws {
    let cases: [([UInt8], String, String)] = [
      (.init(repeating: 0x0B, count: 20), "Hi There", short),
      (.init(repeating: 0xAA, count: 131), "Test Using Larger Than Block-Size Key - Hash Key First", long),
      ([], "", empty),
    ]
    for (key, message, code) in cases {
      let result = try hash.code(of: Secret(copying: Array(message.utf8)), key: Secret(copying: key)).copyIntoUnprotectedBytes()
      let text = result.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
      #expect(text == code)
    }
  }
}
