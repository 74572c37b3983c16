import Children
import Glibc
import Testing

/// A shell in a mount namespace of its own: what it mounts nobody else sees.
func runInMountNamespace(_ script: String) -> [String] {
  // A process that is not root becomes root in a user namespace.
  run("unshare", geteuid() == 0 ? "-m" : "-rm", "sh", "-c", script)
}

/// For tests that act as two users, or make devices: nobody else may.
let isSuperuser: ConditionTrait = .enabled(if: geteuid() == 0, "only the superuser can act as another user")

/// The test-support program, built beside the tests.
let probe = program("StorageProbe")
