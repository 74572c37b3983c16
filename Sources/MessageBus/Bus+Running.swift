import CSystemd
import CofferFiles
import Glibc

extension Bus {
  /// Until `Outbox.end`, or another program has taken the name. Two threads take turns, see `Turns`; the one that calls it waits.
  /// - Throws: `Failure` if the bus goes away.
  package func run() throws(Failure) {
    guard let turns = Turns(), DetachedThread.start("coffer-bus", { self.alternate(turns, hasBus: true) }) else {
      _ = try serve(nil)
      return
    }
    // Without it the first one carries out no calls.
    _ = DetachedThread.start("coffer-bus") { self.alternate(turns, hasBus: false) }
    try turns.awaitEnd()
  }

  private func alternate(_ turns: Turns, hasBus: Bool) {
    var hasBus = hasBus
    while hasBus || turns.waitForTurn() {
      do throws(Failure) {
        if try serve(turns) { return turns.end() }
      } catch {
        return turns.end(error)
      }
      hasBus = false
    }
  }

  /// - Returns: Whether it is over; false: the other thread has the bus.
  private func serve(_ turns: Turns?) throws(Failure) -> Bool {
    while !hasEnded {
      try takeAll()
      if !hasEnded, let call = onPause?(turns?.hasOther ?? false), let turns {
        guard turns.carryOut(call) else { return false }
        send()
      }
      if !hasEnded { try wait() }
    }
    _ = unsafe sd_bus_flush(bus)
    return true
  }

  private func takeAll() throws(Failure) {
    var count = 0
    while try Self.check(unsafe sd_bus_process(bus, nil), "the session bus") > 0, !hasEnded {
      send()
      count += 1
      // A call that is not alone goes to a thread at once: others may come for long.
      if count > 1 { _ = onPause?(false) }
    }
    send()
  }

  private func wait() throws(Failure) {
    var microseconds: UInt64 = .max
    try Self.check(unsafe sd_bus_get_timeout(bus, &microseconds), "the session bus")
    var entries = [
      pollfd(fd: unsafe sd_bus_get_fd(bus), events: Int16(truncatingIfNeeded: unsafe sd_bus_get_events(bus)), revents: 0),
      pollfd(fd: outbox.notifier.descriptor, events: Int16(POLLIN), revents: 0),
    ]
    let limit = outbox.beginWait() ?? .max
    // The timeout is a point in time of the bus's clock. Polling once a second is sufficient for any.
    let wait = microseconds == .max ? limit : microseconds == 0 ? 0 : min(limit, 1000)
    _ = unsafe poll(&entries, 2, wait == .max ? -1 : wait)
    outbox.endWait()
    if entries[1].revents != 0 { outbox.notifier.clear() }
  }
}
