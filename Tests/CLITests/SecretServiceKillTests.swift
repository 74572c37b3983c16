import Testing

/// `coffer-secrets` or the agent is killed while a program writes: what was acknowledged is there.
@Suite struct SecretServiceKillTests {
  /// - Parameter victim: Prints the process.
  private func output(victim: String) throws -> String {
    try SecretServiceTests.output(
      """
      coffer vault init --key-file key --no-passphrase; coffer vault unlock --key-file key; : >acknowledged
      for call in sendmsg,sendto recvmsg,read poll,ppoll futex; do for when in 3 30 130; do
        coffer vault unlock --key-file key >/dev/null 2>&1
        secrets; victim=\(victim)
        strace -f -qq -o /dev/null -p $victim -e trace=$call -e inject=$call:signal=SIGKILL:when=$when 2>attached & tracer=$!
        # It may be killed before the shell looks.
        while kill -0 $tracer 2>/dev/null && ! grep -qs '^TracerPid:.[1-9]' /proc/$victim/status; do sleep 0.05; done
        client written acknowledged $call-$when >/dev/null
        kill -9 $victim $secrets 2>/dev/null; wait $tracer $secrets 2>/dev/null
      done; done
      coffer vault unlock --key-file key >/dev/null 2>&1
      secrets; client acknowledged acknowledged; end
      """, configuration: "--config-file=bus.conf")
  }

  @Test func nothingIsLostWithTheService() throws {
    let output = try output(victim: "$secrets")
    #expect(output == "good\n", "\(output)")
  }

  @Test func nothingIsLostWithTheAgent() throws {
    let output = try output(victim: "$(client agent)")
    #expect(output == "good\n", "\(output)")
  }
}
