import CofferPreferences
import CofferPropertyLists
// One process of a test of the preference store: what must be killed, stopped, traced, or run where the disk is full.
//
//   PreferenceWriter [unmapped] [waiting] [timeout MILLISECONDS] [name DOMAIN] DIRECTORY COMMAND…
//
// Each command is one argument of words, as in "set key text"; "-" takes further ones from standard input, one a line. Each prints
// one line: "ok", a value, or the name of the error's code. At the end it returns from main, as programs do.
import Glibc

var arguments = CommandLine.arguments.dropFirst()
var options = FileDomain.Options()
var name = "com.example.app"
while let word = arguments.first {
  if word == "unmapped" {
    options.isUnmapped = true
  } else if word == "waiting" {
    options.isCreating = false
  } else if word == "timeout" {
    arguments.removeFirst()
    options.timeout = UInt64(arguments.first ?? "") ?? options.timeout
  } else if word == "name" {
    arguments.removeFirst()
    name = arguments.first ?? name
  } else {
    break
  }
  arguments.removeFirst()
}
guard let path = arguments.popFirst() else {
  say("usage")
  exit(64)
}
let session = try Session(FileDomain(DomainName(name), in: PreferenceDirectory(path), options), path, options)
for command in arguments {
  if command == "-" {
    while let line = readLine(strippingNewline: true) { session.run(line) }
  } else {
    session.run(command)
  }
}
