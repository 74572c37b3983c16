import CBaseline
import Glibc

/// The machine of the measurements, without names that identify it.
public enum Machine {
  public static var description: String {
    var system = utsname()
    uname(&system)
    let release = withUnsafePointer(to: &system.release) {
      $0.withMemoryRebound(to: CChar.self, capacity: 65) { String(cString: $0) }
    }
    // The version number only; the rest of the release is chosen by its builder.
    let kernel = release.prefix { $0.isNumber || $0 == "." }
    let gibibytes = Double(sysconf(Int32(_SC_PHYS_PAGES))) * Double(sysconf(Int32(_SC_PAGESIZE))) / Double(1 << 30)
    return """
      \(sysconf(Int32(_SC_NPROCESSORS_ONLN))) cores (\(processor)), \(Int(gibibytes.rounded())) GiB of memory, Linux \(kernel), \
      Swift \(swift), SQLite \(String(cString: sqlite3_libversion())), libsodium \(SODIUM_VERSION_STRING).
      """
  }

  private static var processor: String {
    let line = lines(of: "/proc/cpuinfo").first { $0.hasPrefix("model name") }
    return line?.split(separator: ":").last.map { $0.drop { $0 == " " } }.map(String.init) ?? "unknown"
  }

  private static var swift: String {
    #if compiler(>=6.4)
    "6.4 or later"
    #elseif compiler(>=6.3.1)
    "6.3.1"
    #else
    "6.3"
    #endif
  }

  public static func lines(of path: String) -> [Substring] {
    guard let file = fopen(path, "r") else { return [] }
    defer { fclose(file) }
    var text = ""
    var buffer = [CChar](repeating: 0, count: 4096)
    while fgets(&buffer, 4096, file) != nil { text += buffer.withUnsafeBufferPointer { String(cString: $0.baseAddress!) } }
    return text.split(separator: "\n")
  }
}

/// The peak resident memory of this process since the last reset.
public enum PeakMemory {
  public static func reset() {
    malloc_trim(0)
    guard let file = fopen("/proc/self/clear_refs", "w") else { return }
    fputs("5", file)
    fclose(file)
  }

  public static var bytes: Double {
    let line = Machine.lines(of: "/proc/self/status").first { $0.hasPrefix("VmHWM") }
    return Double(line?.split(separator: " ").dropLast().last.flatMap { Int($0) } ?? 0) * 1024
  }

  public static var text: String { "\(threeDigits(bytes / Double(1 << 20))) MiB" }
}
