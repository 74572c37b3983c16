import CLinux
import CofferRequests
import Glibc
import Synchronization

/// The unit or sandbox of a process, if it identifies the process better than its executable does.
enum ProcessContext {
  private static let longestText = 64 << 10

  /// The service of the system that a process belongs to.
  ///
  /// Which control group a process is in is the kernel's word, and those of the system's services are root's: a program of the
  /// user gets into none. Services of the user are none of these, as any program of the user can make one.
  /// - Parameter text: The content of /proc/PID/cgroup.
  static func unit(inControlGroups text: String) -> String? {
    // By bytes: it is read for each request.
    let lines = text.utf8.split(separator: UInt8(ascii: "\n")).map {
      $0.split(separator: UInt8(ascii: ":"), maxSplits: 2, omittingEmptySubsequences: false)
    }
    let named =
      lines.first { $0.count == 3 && $0[1].elementsEqual("name=systemd".utf8) }
      ?? lines.first { $0.count == 3 && $0[0].elementsEqual("0".utf8) && $0[1].isEmpty }
    guard let path = named?[2], path.first == UInt8(ascii: "/") else { return nil }
    let parts = path.dropFirst().split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false).map {
      String(Substring($0))
    }
    // A group below a service was made by the service itself, which may run other programs in it: a container, the services of a
    // user.
    guard let name = parts.last, parts.count >= 2, GrantedProgram.isUnit(name),
      parts.dropLast().allSatisfy({ $0.hasSuffix(".slice") }), !["user.slice", "machine.slice"].contains(parts[0])
    else { return nil }
    return name
  }

  /// The application of Flatpak, as Flatpak has written it into the root of the sandbox.
  ///
  /// A program in a sandbox cannot change that. A program outside of any can make a sandbox of its own, and write anything there.
  /// - Parameter text: The content of `.flatpak-info`.
  static func flatpak(inInformation text: String) -> String? {
    var section = ""
    for line in text.split(separator: "\n") {
      if line.first == "[" {
        section = String(line)
      } else if section == "[Application]", line.hasPrefix("name=") {
        let identifier = String(line.dropFirst("name=".count))
        return GrantedProgram.isFlatpak(identifier) ? identifier : nil
      }
    }
    return nil
  }

  /// - Throws: `Peer.Failure`: `gone`.
  static func unit(of peer: Peer) throws(Peer.Failure) -> String? {
    guard let text = try text("/proc/\(peer.process)/cgroup", of: peer) else { return nil }
    return peer.unit.withLock { known in
      if let known, known.groups.utf8.elementsEqual(text.utf8) { return known.name }
      let name = unit(inControlGroups: text)
      known = (text, name)
      return name
    }
  }

  /// - Throws: `Peer.Failure`: `gone`.
  static func flatpak(of peer: Peer) throws(Peer.Failure) -> String? {
    try text("/proc/\(peer.process)/root/.flatpak-info", of: peer).flatMap { flatpak(inInformation: $0) }
  }

  /// Returns nil if there is no such file, or it may not be read.
  private static func text(_ path: String, of peer: Peer) throws(Peer.Failure) -> String? {
    let text = contents(path)
    // After the look: that number was this process's all the time.
    guard peer.isAlive else { throw .gone }
    return text
  }

  /// The content of a file of any type: another program may have created it.
  private static func contents(_ path: String) -> String? {
    let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    var status = stat()
    guard unsafe fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
    var bytes: [UInt8] = []
    var part = [UInt8](repeating: 0, count: 4096)
    while bytes.count < longestText {
      let got = unsafe read(descriptor, &part, part.count)
      if got == 0 { return String(validating: bytes, as: UTF8.self) }
      guard got > 0 || errno == EINTR else { return nil }
      bytes += part[..<max(0, got)]
    }
    return nil
  }
}
