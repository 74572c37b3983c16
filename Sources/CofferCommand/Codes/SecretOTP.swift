import ArgumentParser
import CofferConsole

struct SecretOTP: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "otp", abstract: "Print the one-time code of an item.",
    discussion: """
      The seconds for which it is valid go to standard error. coffer secret set-otp keeps what the codes are made from. A code by a \
      counter is printed after the next counter is stored.
      """)

  @OptionGroup var item: ItemOptions

  @Flag(help: "The code of the next period.")
  var next = false

  @Flag(help: "As JSON.")
  var json = false

  @Flag(help: "Copy it to the clipboard, as coffer copy does.")
  var clip = false

  @OptionGroup var access: AccessOptions
  @OptionGroup var vault: VaultOptions

  func run() throws {
    guard !(json && clip) else { throw Failure.usage("--json: not with --clip") }
    let selection = try CodeItem.selection(item)
    let clipboard = try ClipboardOptions.parse([])
    let place = try clip ? clipboard.target() : nil
    let items = try access.open(vault)
    let entry = try CodeItem.entry(selection, in: items)
    let issued = try IssuedCode(entry, isNext: next, in: items)
    if let place {
      try clipboard.copy(issued.code, entry.name, to: place, items, vault)
    } else if json {
      try Descriptor.output.write(issued.members(entry.name), "code", issued.code)
    } else {
      try issued.code.write(to: .output)
    }
    items.finish()
    if !json { issued.noteTime() }
  }
}
