import Testing

/// A program is stopped at each of its calls that name a file of the device key, while another runs from start to end: a reader or a writer
/// while `coffer vault rotate --device-key` runs, and the rotation while a reader and a writer run. Nothing that is acknowledged is lost.
@Suite struct DeviceKeyReaderTests {
  enum Stopped: String, CaseIterable {
    case reader = "coffer secret get here/1 --key-file key"
    case writer = "coffer secret set late/1 --accessible when-unlocked-this-device --key-file key"
    case rotation = "coffer vault rotate --device-key --master-only --force --key-file key"

    /// The commands that run meanwhile.
    var others: [Stopped] { self == .rotation ? [.reader, .writer] : [.rotation] }
  }

  private static let setUp = """
    umask 077; head -c 32 /dev/urandom >key; coffer vault init --key-file key --no-passphrase
    [ "$present" = own ] || head -c 32 /dev/urandom >coffer/state/device.key
    printf one | coffer secret set here/1 --accessible when-unlocked-this-device --key-file key 2>said; mv coffer template
    id=$(COFFER_HOME=$W/template coffer vault status --json | sed 's/^[^,]*,"id":"//; s/".*//')
    own=$W/coffer/state/device-$id.key
    checked() { # Ends with 5 if the master key was changed under the command.
      name=$1; shift
      printf late | "$@" >out.$name 2>said.$name; status=$?
      case "$name $status" in
      "reader 0") [ "$(cat out.$name)" = one ] || echo "$point: another value: $(cat out.$name)";;
      "writer 0") written=1;;
      "rotation 0") ;;
      "reader 5" | "writer 5") grep -q 'the master key was changed' said.$name || { echo "$point: $name:"; cat said.$name; };;
      *) echo "$point: $name ended with $status"; cat said.$name;;
      esac
      return $status
    }
    """

  /// - Parameter loss: A command between the two programs and the check, for the control.
  private static func script(_ stopped: Stopped, _ present: String, loss: String = "true") -> String {
    let others = stopped.others.map { "checked \($0) \($0.rawValue) || echo \"$point: \($0), in one piece: $?\"" }
    return """
      present=\(present)
      \(setUp)
      points=0
      for call in newfstatat openat rename renameat2; do number=1; while :; do
        point="$call $number"
        rm -rf coffer; cp -a template coffer; rm -f trace written.*; written=
        (
          written=
          checked \(stopped) strace -f -qq -o trace -P $own -P $own.new -P $W/coffer/state/device.key \
            -e trace=$call -e inject=$call:signal=SIGSTOP:when=$number \(stopped.rawValue)
          [ -z "$written" ] || >written.late
        ) &
        until grep -q 'stopped by SIGSTOP' trace 2>grep.said || ! kill -0 $! 2>grep.said; do sleep 0.02; done
        process=$(sed -n 's/^\\([0-9]*\\) .*stopped by SIGSTOP.*/\\1/p' trace)
        [ -n "$process" ] || { wait; break; }
        \(others.joined(separator: "\n  "))
        kill -CONT $process; wait
        \(loss)
        [ "$(coffer secret get here/1 --key-file key 2>&1)" = one ] || echo "$point: the item is lost"
        if [ -n "$written" ] || [ -e written.late ]; then
          [ "$(coffer secret get late/1 --key-file key 2>&1)" = late ] || echo "$point: an acknowledged item is lost"
        fi
        coffer vault verify --key-file key 2>&1 | grep -q 'records, all sound$' || echo "$point: not all is sound"
        [ ! -e $own.new ] || echo "$point: a key is left behind"
        number=$((number + 1)); points=$((points + 1))
      done; done
      echo points $points
      """
  }

  @Test(arguments: Stopped.allCases, ["own", "shared"]) func nothingIsLost(stopped: Stopped, present: String) throws {
    let outcome = try Workspace().run(script: Self.script(stopped, present))
    let lines = outcome.output.split(separator: "\n")
    let points = lines.last.flatMap { $0.hasPrefix("points ") ? Int($0.dropFirst(7)) : nil }
    #expect(lines.count == 1 && outcome.errors == "", "\(outcome.output)\(outcome.errors)")
    // The look for each file and the reading of one, and more calls for a key that is made and put in its place.
    #expect((points ?? 0) >= (stopped == .rotation ? 20 : 5), "\(outcome.output)")
  }

  /// The control: a key that is lost is found.
  @Test func aLostKeyIsFound() throws {
    let script = Self.script(.reader, "own", loss: "cp template/state/device-*.key coffer/state/")
    let outcome = try Workspace().run(script: script)
    #expect(outcome.output.contains("newfstatat 1: the item is lost\n"), "\(outcome.output)\(outcome.errors)")
  }
}
