import CLinux
import CofferCommand
import CofferConsole
import CofferFiles
import Glibc
import Testing

@Suite struct LongWorkTests {
  private struct Screen {
    let terminal: PseudoTerminal
    let file: OpenFile
    var output: Descriptor { Descriptor(number: file.number, name: "screen") }

    init() throws {
      terminal = try PseudoTerminal()
      file = try OpenFile(terminal.path, O_RDWR)
    }

    var text: String {
      terminal.drain()
      return String(decoding: terminal.transcript, as: UTF8.self)
    }
  }

  @Test func theBarShowsHowFarTheWorkIsAndGoesAway() throws {
    let screen = try Screen()
    let work = try LongWork("checking", on: screen.output, after: .zero)
    try work.step(1, of: 4)
    try work.step(2, of: 4)
    work.end()
    #expect(screen.text.contains("\rchecking [######..................] 25 %"))
    #expect(screen.text.contains("\rchecking [############............] 50 %"))
    #expect(screen.text.hasSuffix(" \r"))
  }

  @Test func shortWorkShowsNothing() throws {
    let screen = try Screen()
    let work = try LongWork("checking", on: screen.output, after: .seconds(3600))
    try work.step(1, of: 2)
    work.end()
    #expect(screen.text == "")
  }

  @Test func aFileGetsNoBar() throws {
    let path = try Workspace().path + "-said"
    let file = try OpenFile(path, O_RDWR | O_CREAT)
    unsafe unlink(path)
    let work = try LongWork("checking", on: Descriptor(number: file.number, name: path), after: .zero)
    try work.step(1, of: 2)
    work.end()
    #expect(try file.byteCount == 0)
  }

  @Test(arguments: [SIGINT, SIGTERM, SIGHUP]) func aSignalEndsTheWorkAtTheNextStep(signal: Int32) async {
    // In a process of its own: if the signal were not held back, it would end this one.
    await #expect(processExitsWith: .success) { [signal] in
      let work = try LongWork("checking")
      try work.step(1, of: 2)
      raise(signal)
      do { try work.step(2, of: 2) } catch let failure as Failure { exit(failure.status == .cancelled ? 0 : 1) }
      exit(2)
    }
  }

  @Test(arguments: [SIGINT, SIGTERM, SIGHUP]) func aSignalThatIsIgnoredStaysIgnored(signal: Int32) async {
    await #expect(processExitsWith: .success) { [signal] in
      coffer_signal_ignore(signal)
      let work = try LongWork("checking")
      raise(signal)
      try work.step(1, of: 2)
      try work.pause()
      raise(signal)
    }
  }

  @Test(arguments: [SIGINT, SIGTERM, SIGHUP]) func aSignalEndsTheProcessInAPause(signal: Int32) async {
    await #expect(processExitsWith: .signal(signal)) { [signal] in
      // The threads of the pool, on which tests run, block all signals.
      var none = sigset_t()
      unsafe sigemptyset(&none)
      unsafe pthread_sigmask(SIG_SETMASK, &none, nil)
      let work = try LongWork("checking")
      try work.step(1, of: 2)
      try work.pause()
      raise(signal)
      exit(0)
    }
  }

  @Test func aSignalBeforeAPauseEndsTheWork() async {
    await #expect(processExitsWith: .success) {
      let work = try LongWork("checking")
      raise(SIGTERM)
      do { try work.pause() } catch let failure as Failure { exit(failure.status == .cancelled ? 0 : 1) }
      exit(2)
    }
  }

  @Test func afterAPauseSignalsWaitAgain() async {
    await #expect(processExitsWith: .success) {
      let work = try LongWork("reading")
      try work.pause()
      try work.begin("checking")
      raise(SIGTERM)
      do { try work.step(1, of: 2) } catch let failure as Failure { exit(failure.status == .cancelled ? 0 : 1) }
      exit(2)
    }
  }

  @Test func aSignalAfterTheLastStepIsDropped() async {
    await #expect(processExitsWith: .success) {
      let work = try LongWork("checking")
      try work.step(2, of: 2)
      raise(SIGTERM)
      work.end()
    }
  }
}
