/// Why something could not be done with an app. What is wrong with a manifest's values is a `VaultError`, with a directory a
/// `ContainerError`.
package struct AppsError: Error, Equatable, Sendable {
  package struct Code: Hashable, Sendable {
    package let name: String
    private init(_ name: String) { self.name = name }

    // The manifest as a file
    /// No property list, or no dictionary.
    package static let manifestUnreadable = Self("manifestUnreadable")
    /// Something is missing, of another type, or unknown: what is not known is not signed either.
    package static let manifestField = Self("manifestField")
    package static let manifestNotSigned = Self("manifestNotSigned")

    // The app
    package static let executableMissing = Self("executableMissing")
    /// The app has no executable of that path, or none that a person starts.
    package static let executableUnknown = Self("executableUnknown")
    /// Its content is not what was signed.
    package static let executableChanged = Self("executableChanged")
    /// The version that is installed, with another content.
    package static let sameVersionDiffers = Self("sameVersionDiffers")
    /// The vault knows it, and its files are gone or were changed.
    package static let bundleDamaged = Self("bundleDamaged")
    /// It must be removed before.
    package static let appInstalled = Self("appInstalled")
    /// The vault has never known it.
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
