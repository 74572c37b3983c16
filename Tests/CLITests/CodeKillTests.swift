import Testing

/// `coffer secret otp` with a counter, killed before its system calls, or with errors of the disk: no code is printed twice, because a server
/// takes each once.
@Suite struct CodeKillTests {
  static let counting = """
    umask 077; [ -e key ] || { head -c 32 /dev/urandom >key; coffer vault init --key-file key --no-passphrase
      printf x | coffer set old/ada --key-file key; printf JBSWY3DPEHPK3PXP | coffer secret set-otp old/ada --counter 0 --key-file key 2>said
      oathtool --hotp -b -c 0 -w 1 JBSWY3DPEHPK3PXP >codes; cp -a coffer made; }
    rm -rf coffer; cp -a made coffer
    $inject coffer secret otp old/ada --key-file key >out 2>said
    status=$?
    case $status in 0|12|137) ;; *) echo "$call $when: ended with $status"; cat said ;; esac
    coffer vault verify --key-file key >state 2>&1 || { echo "$call $when: the vault:"; cat state; }
    next=$(coffer secret otp old/ada --key-file key 2>said) || { echo "$call $when: again:"; cat said; }
    if [ -s out ]; then
      [ "$(cat out) $next" = "$(echo $(cat codes))" ] || echo "$call $when: $next was printed after $(cat out)"
    else
      [ $status != 0 ] || echo "$call $when: done, and no code"
      grep -qx "$next" codes || echo "$call $when: $next is neither the first code nor the second"
    fi
    [ $status = 0 ] && ! grep -q INJECTED trace && exit 3; exit 0
    """

  @Test(arguments: ["signal=SIGKILL", "error=ENOSPC", "error=EIO"]) func noCodeIsPrintedTwice(end: String) throws {
    let calls = end == "error=ENOSPC" ? ["pwrite64", "write"] : ["pwrite64", "fdatasync,fsync", "write"]
    let injection = Injection(end: end, calls: calls, mustReach: ["pwrite64", "write"])
    let faults = try injection.faults(of: Self.counting, in: Workspace())
    #expect(faults.isEmpty, "\(faults.joined(separator: "\n"))")
  }

  /// The control: a program that prints a code before its counter is on the disk is found.
  @Test func aCodeThatIsPrintedFirstIsFound() throws {
    let injection = Injection(end: "signal=SIGKILL", calls: ["pwrite64"], mustReach: ["pwrite64"])
    let script = Self.counting.replacing(
      "$inject coffer secret otp old/ada --key-file key >out 2>said",
      with: "head -n 1 codes >out; $inject coffer secret otp old/ada --key-file key >said 2>&1")
    let faults = try injection.faults(of: script, in: Workspace())
    #expect(faults.contains { $0.contains("was printed after") }, "\(faults)")
  }
}
