/// The reason why an operation on an app failed. Errors in a manifest's values are `VaultError`, errors of directories
/// `FileError`.
package struct AppsError: Error, Equatable, Sendable {
  package enum Code: String, CaseIterable, Sendable {
    // The manifest as a file
    /// The file is not a property list, or not a dictionary.
    case manifestUnreadable
    /// A key is missing, unknown, or of another type. Unknown keys are refused, because the signature would not cover them.
    case manifestField
    case manifestNotSigned

    // The app
    case executableMissing
    /// The app has no executable at that path, or a person cannot start it.
    case executableUnknown
    /// Its content differs from the signed digest.
    case executableChanged
    /// The version that is installed already, with another content.
    case sameVersionDiffers
    /// The vault has the app, but its files are missing or were changed.
    case bundleDamaged
    /// The app must be removed first.
    case appInstalled
    /// The vault has no record of the app.
    case appUnknown
    case severalApps
    /// All records of the app are removed, except damaged ones: each of these may be one. The detail is their number.
    case damagedRecordsStay

    package var name: String { rawValue }
  }

  package let code: Code
  /// For people. Not compared.
  package let detail: String

  package init(_ code: Code, _ detail: String = "") {
    self.code = code
    self.detail = detail
  }

  package static func == (left: AppsError, right: AppsError) -> Bool { left.code == right.code }
}
