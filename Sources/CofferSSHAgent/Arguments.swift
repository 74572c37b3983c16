/// The arguments of ssh-agent(1). Options that concern OpenSSH's agent alone are passed on to it.
struct Arguments: Equatable {
  enum Action: Equatable {
    /// Starts an agent in the background.
    case start
    /// Serves in this process. With debugging output, if `isDebugging`.
    case serve(isDebugging: Bool)
    /// Starts an agent, and becomes this program.
    case become([String])
    /// Ends the agent of SSH_AGENT_PID.
    case end
    case help
    case version
  }

  struct Malformed: Error, Equatable {
    let message: String
  }

  static let usage = """
    usage: coffer-ssh-agent [-c | -s] [-Dd] [-a bind_address] [-E fingerprint_hash] [-O option]
                            [-P allowed_providers] [-t life]
           coffer-ssh-agent [-a bind_address] [-E fingerprint_hash] [-O option]
                            [-P allowed_providers] [-t life] command [arg ...]
           coffer-ssh-agent [-c | -s] -k

    """

  private(set) var action = Action.start
  /// Nil: the usual one.
  private(set) var socket: String?
  /// Whether variables are printed for csh(1). Nil: as $SHELL needs it.
  private(set) var isForCShell: Bool?
  /// Options for OpenSSH's agent.
  private(set) var passed: [String] = []
  /// An open descriptor on which a line is written when it listens.
  private(set) var readyDescriptor: Int32?
  /// Whether it ends with the process that has started it.
  private(set) var isWithParent = false

  /// - Throws: `Malformed`.
  init(parsing words: [String]) throws(Malformed) {
    var rest = words[...]
    var isEnd = false
    while let word = rest.first, !isEnd, word.first == "-", word != "-" {
      rest = rest.dropFirst()
      switch word {
      case "--": isEnd = true
      case "--help": action = .help
      case "--version": action = .version
      case "--with-parent": isWithParent = true
      case "--ready-fd":
        guard let number = rest.popFirst().flatMap({ Int32($0) }), number > 2 else {
          throw Malformed(message: "--ready-fd: the number of a descriptor is missing")
        }
        readyDescriptor = number
      default: try parse(word.dropFirst(), &rest)
      }
    }
    if [.help, .version].contains(action) { return }
    guard rest.isEmpty || action == .start && isForCShell == nil else {
      throw Malformed(message: action == .start ? "a command with -c or -s" : "a command with -d, -D or -k")
    }
    if !rest.isEmpty { action = .become(Array(rest)) }
  }

  /// The letters of one word, as getopt(3) reads them.
  private mutating func parse(_ letters: Substring, _ rest: inout ArraySlice<String>) throws(Malformed) {
    var letters = letters
    while let letter = letters.popFirst() {
      switch letter {
      case "c", "s":
        guard isForCShell == nil || isForCShell == (letter == "c") else {
          throw Malformed(message: "-c and -s exclude each other")
        }
        isForCShell = letter == "c"
      case "k": action = .end
      case "D", "d":
        guard action == .start else { throw Malformed(message: "-d, -D and -k exclude each other") }
        action = .serve(isDebugging: letter == "d")
      case "a", "E", "O", "P", "t":
        guard let value = letters.isEmpty ? rest.popFirst() : String(letters) else {
          throw Malformed(message: "-\(letter): a value is missing")
        }
        letters = ""
        if letter == "a" { socket = value } else { passed += ["-\(letter)", value] }
      default: throw Malformed(message: "unknown option -\(letter)")
      }
    }
  }
}
