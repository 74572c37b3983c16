import BenchmarkKit

let arguments = try Arguments(known: ["--programs", "--client", "--sizes", "--clients", "--seconds", "--directory"])
guard let programs = arguments["--programs"], let client = arguments["--client"] else {
  throw BenchmarkError("--programs DIRECTORY and --client PATH are missing")
}
let directory = try arguments.directory()
let sizes = arguments.sizes(default: [10, 1000, 10_000, 100_000])
let clients = (arguments["--clients"] ?? "1,8,64").split(separator: ",").compactMap { Int($0) }
let seconds = arguments.integer("--seconds", default: 2)

print("Through the agent, durable puts. \(Machine.description)\n")
var table = MarkdownTable(["a second, and the median of one"] + clients.map { "\($0) \($0 == 1 ? "client" : "clients")" })

let echo = "\(directory)/echo.sock"
try EchoSocket.serve(echo)
let runs = Runs(client: client, seconds: seconds)
table.append(
  ["bare echo server, \(EchoSocket.byteCount) bytes each way"] + (try clients.map { try runs.run(client, "echo", echo, $0, 1) }))
for size in sizes {
  let agent = try RunningAgent(programs: programs, client: client, itemCount: size, in: directory)
  for (operation, title) in [("get", "get by reference"), ("get-by-name", "get by name: two questions"), ("put", "put")] {
    table.append(
      ["\(title), \(size) items"] + (try clients.map { try runs.run(agent.client, operation, agent.socket, $0, size) }))
  }
  try agent.stop()
}
print(table)
