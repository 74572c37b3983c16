import AppContainers
import ArgumentParser
import CofferConsole
import CofferFiles

struct AppDeliver: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "deliver", abstract: "Put a copy of a file into the Inbox of an app.",
    discussion: "The app can read and delete it. Prints the name that it has there.")

  @Argument(help: "TEAM.identifier, or the identifier alone.", completion: OfferedNames.apps)
  var app: String

  @Argument(help: "The file.", completion: .file())
  var file: String

  @Option(help: ArgumentHelp("Its name in the Inbox, if not its own.", valueName: "name"))
  var name: String?

  @Flag(help: "As JSON.")
  var json = false

  func run() throws {
    let container = try UserContainers.container(of: app)
    let source = try Descriptor.openFile(file)
    let own = file.split(separator: "/").last.map(String.init) ?? file
    let given = try about(name ?? own) {
      try container.deliver(OpenFile(source.number, file), as: FileName(name ?? own))
    }
    try Descriptor.output.write(json ? JSON.object([("name", .text("\(given)"))]).description + "\n" : "\(given)\n")
  }
}
