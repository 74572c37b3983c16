import CofferConsole

/// The output of `defaults help`.
package enum DefaultsUsage {
  package static let text = """
    Command line interface to a user's defaults.
    Syntax:

    'defaults' [-currentHost | -host <hostname>] followed by one of the following:

      read                                 shows all defaults
      read <domain>                        shows defaults for given domain
      read <domain> <key>                  shows defaults for given domain, key

      read-type <domain> <key>             shows the type for the given domain, key

      write <domain> <domain_rep>          writes domain (overwrites existing)
      write <domain> <key> <value>         writes key for domain

      rename <domain> <old_key> <new_key>  renames old_key to new_key

      delete <domain>                      deletes domain
      delete <domain> <key>                deletes key in domain

      import <domain> <path to plist>      writes the plist at path to domain
      import <domain> -                    writes a plist from stdin to domain
      export <domain> <path to plist>      saves domain as a binary plist to path
      export <domain> -                    writes domain as an xml plist to stdout
      domains                              lists all domains
      find <word>                          lists all entries containing word
      explain <domain> <key>               shows where a value comes from
      watch [<domain> [<key>]]             shows changes as they happen
      diff <domain> <domain or plist>      compares two domains; exits with 1 if they differ
      doctor                               looks for damage, and for secrets among the values
      doctor --move [<domain> [<key>]]     moves secrets to the vault, and leaves references
                                           (--group, --create-group, --json, and the options that open the vault)
      help                                 print this help

    <domain> is ( <domain_name> | -app <application_name> | -globalDomain )
             or a path to a file omitting the '.plist' extension

    Right behind the verb:
      -container <app or group>            means the domains in the container of an app or of an application group
                                           (not explain, doctor)

    <value> is one of:
      <value_rep>
      -string <string_value>
      -data <hex_digits>
      -int[eger] <integer_value>
      -float  <floating-point_value>
      -bool[ean] (true | false | yes | no)
      -date <date_rep>
      -array <value1> <value2> ...
      -array-add <value1> <value2> ...
      -dict <key1> <value1> <key2> <value2> ...
      -dict-add <key1> <value1> ...

    Right behind the verb or at the end:
      --json                               prints JSON (read, read-type, domains, find, explain, watch, diff, doctor)
      --stdin                              takes the value from stdin, behind a type or none (write)
      --not-a-secret                       stores what looks like a secret (write, rename, import)

    """
}
