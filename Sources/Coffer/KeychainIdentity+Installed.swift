internal import AppContainers
internal import CofferApps
import CofferFiles
internal import Glibc

extension KeychainIdentity {
  /// The app that this program was installed as with `coffer app install`; under `coffer app dev`, the app that is being
  /// developed.
  ///
  /// The program's file must be the signed one. A script is its interpreter, and no app.
  /// - Throws: `appNotInstalled` where it is no program of an app; `integrity` where it or its manifest were changed; `storage`.
  public static func installed() throws -> KeychainIdentity {
    do {
      guard let signed = try ProgramOfApp.manifest(of: executablePath()) ?? developed() else {
        throw KeychainError(.appNotInstalled, "this program was not installed as an app")
      }
      return .app(signed)
    } catch {
      throw KeychainError(ofApps: error)
    }
  }

  private static func executablePath() throws -> String {
    var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
    let count = unsafe readlink("/proc/self/exe", &buffer, buffer.count)
    guard count > 0 else { throw KeychainError(.storage, "/proc/self/exe cannot be read") }
    return String(decoding: buffer[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  /// The environment gives no rights here, as in `RunningApp`: only those that the passphrase gives.
  private static func developed() throws -> SignedManifest? {
    guard let path = Environment[RunningApp.manifestVariable], path.utf8.first == UInt8(ascii: "/") else { return nil }
    return try ProgramOfApp.manifest(inFile: path)
  }
}

extension KeychainError {
  init(ofApps error: any Error) {
    switch error {
    case let error as AppsError: self.init(.integrity, "\(error.code.name): \(error.detail)")
    case let error as FileError: self.init(.storage, "\(error.code.name): \(error.detail)")
    default: self.init(error)
    }
  }
}
