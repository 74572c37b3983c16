import Testing

/// The agent under a logind of the test's own, on a message bus of its own.
@Suite struct LogindTests {
  private static let fake = TranscriptTests.directory.dropLast("CLITests/Transcripts".utf8.count) + "Support/FakeLogind/logind.py"

  @Test func theKeysAreForgottenBeforeTheMachineSleeps() throws {
    let workspace = try Workspace()
    let outcome = try workspace.run(
      script: """
        exec 2>&1
        export DBUS_SYSTEM_BUS_ADDRESS=unix:path=$W/bus
        dbus-daemon --session --nofork --nopidfile --address=$DBUS_SYSTEM_BUS_ADDRESS </dev/null >/dev/null 2>&1 & bus=$!
        mkfifo words; : >said
        for try in $(seq 100); do [ -S bus ] && break; sleep 0.1; done
        python3 \(Self.fake) <words >said & logind=$!
        exec 9>words
        until_said() { for try in $(seq 150); do [ "$(grep -c "$1" said)" -ge "$2" ] && return; sleep 0.1; done; echo "never said: $1"; }
        until_status() { for try in $(seq 150); do [ "$(coffer agent status)" = "$1" ] && return; sleep 0.1; done; echo "never $1"; }
        until_said ready 1
        umask 077; head -c 32 /dev/urandom >key; coffer vault init --key-file key --no-passphrase
        coffer vault unlock --key-file key; coffer agent status
        until_said 'inhibited sleep delay' 1
        echo sleep >&9; until_said released 1; grep released said
        echo wake >&9; until_said 'inhibited sleep delay' 2
        coffer vault unlock --key-file key
        echo "lock $(($(id -u) + 1))" >&9; sleep 1; coffer agent status
        echo "lock $(id -u)" >&9; until_status locked; coffer agent status
        coffer agent stop; until_said released 2; grep -c released said
        exec 9>&-; wait $logind; kill $bus
        """)
    #expect(
      outcome.output == ["unlocked", "released while locked", "unlocked", "locked", "2", ""].joined(separator: "\n"),
      "\(outcome.output)")
  }

  /// A server has neither: the agent runs all the same.
  @Test func withoutABusNothingIsWaitedFor() throws {
    let workspace = try Workspace()
    let outcome = try workspace.run(
      script: """
        export DBUS_SYSTEM_BUS_ADDRESS=unix:path=$W/nothing
        umask 077; head -c 32 /dev/urandom >key; coffer vault init --key-file key --no-passphrase
        coffer vault unlock --key-file key; coffer agent status; coffer agent stop
        """)
    #expect(outcome.output == "unlocked\n" && outcome.errors.isEmpty, "\(outcome)")
  }
}
