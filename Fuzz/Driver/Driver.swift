// The entry points for libFuzzer. FUZZ_TARGET selects the target.
import Glibc

private let target: FuzzTarget = {
  let name = unsafe getenv("FUZZ_TARGET").map { unsafe String(cString: $0) } ?? ""
  // The control: a target with a bug to be found.
  if name == "control" { return FuzzTarget("control") { try promise(!$0.starts(with: Array("bad".utf8)), "nothing is bad") } }
  guard let target = FuzzTarget.all.first(where: { $0.name == name }) else { fatalError("no target \(name)") }
  return target
}()

@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  let bytes = unsafe [UInt8](UnsafeBufferPointer(start: start, count: count))
  do {
    try target.run(bytes)
  } catch {
    fatalError("\(target.name): \(error.promise)")
  }
  return 0
}

/// Prints the names of all targets, for the script.
@_cdecl("LLVMFuzzerInitialize")
public func initialize(_: UnsafeMutableRawPointer?, _: UnsafeMutableRawPointer?) -> CInt {
  guard unsafe getenv("FUZZ_LIST") != nil else { return 0 }
  for target in FuzzTarget.all { print(target.name) }
  exit(0)
}
