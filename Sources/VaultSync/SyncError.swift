/// Why a vault cannot be synchronised. One code for each cause; the detail names what.
package struct SyncError: Error, Equatable, Sendable {
  package enum Code: String, CaseIterable, Sendable {
    /// The vault is not a device of this space, or of none.
    case noSpace
    /// The item with the keys does not open: it is of another device, or of a former key of this one.
    case keysUnavailable
    /// The vault is a device of this space already.
    case deviceAlready
    /// It is one of several, and none was named.
    case severalSpaces
    /// The item with the keys of this device has another length.
    case keysMalformed
    /// Another command has the files of this device, and keeps them.
    case otherCommand
    /// The files of this device in the state directory are missing.
    case stateMissing
    /// They do not open under the key in the vault, or have another form.
    case stateMalformed
    /// It is no `dir:PATH` or `ssh:HOST:PATH`.
    case addressMalformed
    /// Groups of that name are never shared.
    case groupNotShared
    /// The group is in another space.
    case groupInOtherSpace
    /// No device, or person, of that name.
    case noDevice
    case severalDevices
    /// The vault is in another space of one person.
    case personalElsewhere
    /// Settings are those of one person, and the space is not of one.
    case notPersonal
    /// The role of this device does not allow it.
    case notAllowed
    /// No device removes itself.
    case ownDevice
    /// The space has no other owner.
    case lastOwner
    /// It has none but its recovery keys.
    case lastLivingOwner
    /// The device that is asked for has not answered in time.
    case noAnswer
    /// Another device has already answered under this code.
    case codeTaken
    /// The new device has ended the exchange: its mailbox is gone.
    case joinEnded
    /// The messages are not those of one exchange.
    case exchangeRefused
    case wrongNumber
    /// The member has ended the exchange without adding the device.
    case exchangeEnded
    /// Changes that no other device has yet would be lost.
    case changesPending
    /// Another device has removed this one, and asked it to erase the items of the space. The detail is their number.
    case erased
    /// The text is no recovery key of a space.
    case recoveryKeyMalformed
    /// No device of the space has added this recovery key, or one has removed it.
    case recoveryKeyUnknown
  }

  package let code: Code
  /// For people. Not compared.
  package let detail: String

  package init(_ code: Code, _ detail: String = "") { (self.code, self.detail) = (code, detail) }

  package static func == (left: SyncError, right: SyncError) -> Bool { left.code == right.code }
}
