internal import Coffer
internal import CofferApps
package import CofferConsole
internal import CofferRequests
internal import CofferStorage
internal import VaultCore

extension VaultError: Explained {
  package var explanation: Explanation { FailureTable.vault[code.name] ?? Explanation(.other, code.name) }
}

extension StorageError: Explained {
  package var explanation: Explanation { FailureTable.storage[code.name] ?? Explanation(.other, code.name) }
}

extension AppsError: Explained {
  package var explanation: Explanation { FailureTable.applications[code.name] ?? Explanation(.other, code.name) }
}

extension KeychainError: Explained {
  package var explanation: Explanation {
    FailureTable.vault[cause] ?? FailureTable.storage[cause] ?? FailureTable.keychain[cause] ?? FailureTable.applications[cause]
      ?? FailureTable.containers[cause] ?? FailureTable.keychain[code.name] ?? Explanation(.other, cause)
  }
}

extension EmptyPassphrase: Explained {
  package var explanation: Explanation { Explanation(.usage, "the passphrase is empty") }
  package var detail: String { "" }
}
