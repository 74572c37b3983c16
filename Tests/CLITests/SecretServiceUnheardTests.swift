import Testing

/// The vault is locked and nobody can be asked: each client that people use ends with an error, at once.
@Suite struct SecretServiceUnheardTests {
  /// Git has the source of its helper alone.
  private static let git = """
    mkdir git; cp /usr/share/doc/git/contrib/credential/libsecret/* git; gunzip git/*.gz 2>/dev/null
    gcc -o git/git-credential-libsecret git/git-credential-libsecret.c $(pkg-config --cflags --libs libsecret-1 glib-2.0) 2>/dev/null
    """

  private static let clients: [(String, String)] = [
    ("secret-tool lookup", "secret-tool lookup a b"),
    ("secret-tool search", "secret-tool search a b"),
    ("secret-tool store", "printf x | secret-tool store --label=L a b"),
    ("secret-tool clear", "secret-tool clear a b"),
    (
      "secretstorage",
      "/usr/bin/python3 -c 'import secretstorage as s; c = s.dbus_init(); print(list(s.search_items(c, {\"a\": \"b\"})))'"
    ),
    (
      "secretstorage create",
      "/usr/bin/python3 -c 'import secretstorage as s; s.get_default_collection(s.dbus_init()).create_item(\"L\", {}, b\"x\")'"
    ),
    ("keyring get", "/usr/bin/keyring -b keyring.backends.SecretService.Keyring get a b"),
    ("keyring set", "echo x | /usr/bin/keyring -b keyring.backends.SecretService.Keyring set a b"),
    (
      "libsecret",
      """
      /usr/bin/python3 -c 'import gi; gi.require_version("Secret", "1"); from gi.repository import Secret as S
      s = S.Schema.new("org.example.S", S.SchemaFlags.NONE, {"a": S.SchemaAttributeType.STRING})
      print(S.password_lookup_sync(s, {"a": "b"}, None))'
      """
    ),
    (
      "libsecret store",
      """
      /usr/bin/python3 -c 'import gi; gi.require_version("Secret", "1"); from gi.repository import Secret as S
      s = S.Schema.new("org.example.S", S.SchemaFlags.NONE, {"a": S.SchemaAttributeType.STRING})
      print(S.password_store_sync(s, {"a": "b"}, S.COLLECTION_DEFAULT, "L", "x", None))'
      """
    ),
    ("docker get", "printf 'https://example.org' | docker-credential-secretservice get"),
    (
      "docker store",
      "printf '{\"ServerURL\":\"https://example.org\",\"Username\":\"u\",\"Secret\":\"s\"}' | docker-credential-secretservice store"
    ),
    ("git store", "printf 'protocol=https\\nhost=h\\nusername=u\\npassword=p\\n\\n' | git/git-credential-libsecret store"),
    ("git get", "printf 'protocol=https\\nhost=h\\n\\n' | git/git-credential-libsecret get"),
  ]

  /// Clients give up after 25 seconds themselves, and then it is a failure.
  @Test func eachClientEndsWithAnError() throws {
    let script = Self.clients.map { name, command in
      """
      cat >command <<'END'
      \(command)
      END
      begin=$(date +%s%N); timeout 120 sh command >told 2>&1; code=$?; took=$((($(date +%s%N) - begin) / 1000000))
      if [ $code = 0 ] && [ ! -s told ]; then code=silent; fi
      [ $code != 0 ] && [ $code != silent ] && [ $code != 124 ] && [ $took -lt 24000 ] && ! grep -q 'not found$' told && echo '\(name)' \
        || { echo '\(name)': $code in $took ms; cat told; }
      """
    }.joined(separator: "\n")
    let output = try SecretServiceTests.output(
      """
      \(Self.git)
      coffer vault init --key-file key --no-passphrase; secrets
      \(script)
      kill $secrets $bus; wait
      """)
    #expect(output == Self.clients.map(\.0).joined(separator: "\n") + "\n", "\(output)")
  }
}
