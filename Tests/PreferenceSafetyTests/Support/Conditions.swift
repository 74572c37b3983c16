import Glibc
import Testing

/// For tests that mount file systems or act as two users, which only root may do.
let isSuperuser: ConditionTrait = .enabled(if: geteuid() == 0, "only the superuser can mount and act as another user")

/// Whether the long forms run, which take minutes to hours, as in `make trust`.
let isLong = unsafe getenv("COFFER_TRUST") != nil
