// The interface of the keychain has items, groups and secrets.
@_exported public import AccessRights
// And meets its errors.
@_exported public import CofferRequests
@_exported public import SecretMemory
@_exported public import VaultCore
