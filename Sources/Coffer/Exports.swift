// And meets its errors.
@_exported public import CofferRequests
// Who uses the keychain names items, groups and secrets.
@_exported public import VaultCore
