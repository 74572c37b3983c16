/// The reason why an operation on an app failed. Errors in a manifest's values are `VaultError`, errors of directories
/// `ContainerError`.
package struct AppsError: Error, Equatable, Sendable {
  package struct Code: Hashable, Sendable {
    package let name: String
    private init(_ name: String) { self.name = name }

    // The manifest as a file
    /// The file is not a property list, or not a dictionary.
    package static let manifestUnreadable = Self("manifestUnreadable")
    /// A key is missing, unknown, or of another type. Unknown keys are refused, because the signature would not cover them.
    package static let manifestField = Self("manifestField")
    package static let manifestNotSigned = Self("manifestNotSigned")

    // The app
    package static let executableMissing = Self("executableMissing")
    /// The app has no executable at that path, or a person cannot start it.
    package static let executableUnknown = Self("executableUnknown")
    /// Its content differs from the signed digest.
    package static let executableChanged = Self("executableChanged")
    /// The version that is installed already, with another content.
    package static let sameVersionDiffers = Self("sameVersionDiffers")
    /// The vault has the app, but its files are missing or were changed.
    package static let bundleDamaged = Self("bundleDamaged")
    /// The app must be removed first.
    package static let appInstalled = Self("appInstalled")
    /// The vault has no record of the app.
    package static let appUnknown = Self("appUnknown")
    package static let severalApps = Self("severalApps")
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

extension AppsError.Code {
  package static func ~= (code: Self, error: any Error) -> Bool { (error as? AppsError)?.code == code }
}
