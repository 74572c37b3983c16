import CofferTesting

/// Secrets of every kind, random at run time: none of them was ever in use, and none is in the repository, where secret scanners
/// would report it.
struct Sample {
  let rule: String
  let key: String
  let text: String
  /// Rules that may match too, because the form includes theirs.
  var others: Set<String> = []
}

struct SampleMaker {
  var random: SeededGenerator

  mutating func draw(_ alphabet: String, _ count: Int) -> String {
    let letters = Array(alphabet)
    return String((0..<count).map { _ in letters[Int.random(in: 0..<letters.count, using: &random)] })
  }

  static let digits = "0123456789"
  static let lower = "abcdefghijklmnopqrstuvwxyz"
  static let upper = lower.uppercased()
  static let alphanumeric = digits + lower + upper
  static let hex = "0123456789abcdef"
  static let url = alphanumeric + "-_"
  static let base64 = alphanumeric + "+/"

  mutating func any(_ count: Int) -> String { draw(Self.alphanumeric, count) }
  mutating func hex(_ count: Int) -> String { draw(Self.hex, count) }
  mutating func url(_ count: Int) -> String { any(1) + draw(Self.url, count - 2) + any(1) }
  mutating func capitals(_ count: Int) -> String { draw(Self.upper + Self.digits, count) }

  /// `others` is used only if a form contains the name of its secret.
  mutating func tokens() -> [Sample] {
    let prefixed: [(rule: String, text: String)] =
      ["p", "o", "u", "s", "r"].map { ("github-token", "gh\($0)_" + any(36)) } + [
        ("github-token", "github_" + "pat_" + any(22) + "_" + any(59)),
        ("slack-webhook", "https://hooks." + "slack.com/services/T" + capitals(8) + "/B" + capitals(10) + "/" + any(24)),
        ("discord-webhook", "https://discord.com/api/" + "webhooks/" + draw(Self.digits, 18) + "/" + url(68)),
        ("discord-webhook", "https://discordapp.com/api/" + "webhooks/" + draw(Self.digits, 19) + "/" + url(68)),
        ("telegram-token", draw("123456789", 9) + ":AA" + url(33)),
        ("aws-access-key", "AK" + "IA" + capitals(16)),
        ("aws-access-key", "AS" + "IA" + capitals(16)),
        ("google-api-key", "AI" + "za" + url(35)), ("google-oauth", "GOC" + "SPX-" + url(28)),
        ("google-oauth", "ya29" + "." + url(120)),
        ("npm-token", "npm" + "_" + any(36)), ("pypi-token", "pypi-" + "AgEIcHlwaS5vcmc" + url(80)),
        ("rubygems-key", "rubygems" + "_" + hex(48)), ("anthropic-key", "sk-" + "ant-api03-" + url(93)),
        ("openai-key", "sk" + "-" + any(48)), ("openai-key", "sk-" + "proj-" + url(150)),
        ("openai-key", "sk-" + "svcacct-" + url(60)),
        ("openai-key", "sk-" + "admin-" + url(60)), ("openrouter-key", "sk-" + "or-v1-" + hex(64)),
        ("huggingface-token", "hf" + "_" + any(34)), ("groq-key", "gsk" + "_" + any(52)),
        ("replicate-token", "r8" + "_" + any(37)),
        ("sendgrid-key", "SG" + "." + url(22) + "." + url(43)), ("twilio-key", "S" + "K" + hex(32)),
        ("databricks-token", "da" + "pi" + hex(32)), ("square-token", "sq0" + "atp-" + url(22)),
        ("square-token", "sq0" + "csp-" + url(43)),
        ("grafana-token", "gl" + "sa_" + any(32) + "_" + hex(8)), ("postman-key", "PM" + "AK-" + hex(24) + "-" + hex(34)),
        ("newrelic-key", "NR" + "AK-" + capitals(27)), ("linear-key", "lin_" + "api_" + any(40)),
        ("figma-token", "fi" + "gd_" + url(40)),
        ("notion-token", "nt" + "n_" + any(46)), ("notion-token", "secret" + "_" + any(43)),
        ("doppler-token", "dp" + ".pt." + any(43)),
        ("pulumi-token", "pu" + "l-" + hex(40)), ("supabase-token", "sb" + "p_" + hex(40)),
        ("planetscale-token", "pscale" + "_tkn_" + url(43)),
        ("planetscale-token", "pscale" + "_pw_" + url(43)), ("sentry-token", "sntr" + "yu_" + hex(64)),
        ("sentry-token", "sntr" + "ys_" + any(90)),
        ("atlassian-token", "AT" + "ATT3" + url(186)), ("tailscale-key", "ts" + "key-auth-" + any(12) + "-" + any(32)),
        ("age-key", "AGE-SECRET" + "-KEY-1" + draw("023456789ACDEFGHJKLMNPQRSTUVWXYZ", 58)),
        ("age-key", "AGE-SECRET" + "-KEY-PQ-1" + draw("023456789ACDEFGHJKLMNPQRSTUVWXYZ", 58)),
        ("nostr-key", "ns" + "ec1" + draw("023456789acdefghjklmnpqrstuvwxyz", 58)),
        ("onepassword-token", "op" + "s_eyJ" + any(200)),
        ("jwt", "ey" + "J" + url(30) + ".ey" + "J" + url(80) + "." + url(43)),
        ("docker-token", "dckr" + "_pat_" + url(27)), ("docker-token", "dckr" + "_oat_" + url(32)),
        ("azure-key", "Account" + "Key=" + draw(Self.base64, 86) + "=="),
        ("azure-key", "Shared" + "AccessKey=" + draw(Self.base64, 43) + "="),
      ]
    var samples = prefixed.map {
      Sample(rule: $0.rule, key: "value", text: $0.text, others: $0.rule == "azure-key" ? ["secret-member"] : [])
    }
    for letter in ["M", "N", "O"] {
      samples.append(Sample(rule: "discord-token", key: "value", text: letter + url(25) + "." + url(6) + "." + url(38)))
    }
    for kind in ["pat", "dt", "rt", "ptt", "cbt", "ft", "soat", "agent"] {
      samples.append(Sample(rule: "gitlab-token", key: "value", text: "gl\(kind)-" + url(20)))
    }
    samples.append(Sample(rule: "gitlab-token", key: "value", text: "glo" + "as-" + hex(64)))
    for kind in ["b", "p", "a", "r", "s", "c", "d", "e"] {
      samples.append(
        Sample(rule: "slack-token", key: "value", text: "xox\(kind)-" + draw(Self.digits, 12) + "-" + any(24)))
    }
    for kind in ["xoxe" + ".xoxp-1-", "xoxe" + ".xoxb-1-", "xa" + "pp-1-A"] {
      samples.append(Sample(rule: "slack-token", key: "value", text: kind + any(60)))
    }
    for kind in ["sk_live", "rk_live", "sk_test", "rk_test", "whsec"] {
      samples.append(Sample(rule: "stripe-key", key: "value", text: kind + "_" + any(40)))
    }
    for kind in ["o", "p", "r"] {
      samples.append(Sample(rule: "digitalocean-token", key: "value", text: "do\(kind)_v1_" + hex(64)))
    }
    for kind in ["s", "b", "r"] { samples.append(Sample(rule: "vault-token", key: "value", text: "hv\(kind)." + url(90))) }
    for kind in ["at", "ca", "pa", "ss"] {
      samples.append(Sample(rule: "shopify-token", key: "value", text: "shp\(kind)_" + hex(32)))
    }
    return samples
  }

  mutating func structures() -> [Sample] {
    let body = (0..<6).map { _ in draw(Self.base64, 64) }.joined(separator: "\n")
    func pem(_ label: String) -> String { "-----BEGIN \(label)" + "-----\n\(body)\n-----END \(label)-----\n" }
    var samples = [
      "PRIVATE KEY", "RSA PRIVATE KEY", "EC PRIVATE KEY", "OPENSSH PRIVATE KEY", "ENCRYPTED PRIVATE KEY", "PGP PRIVATE KEY BLOCK",
    ]
    .map { Sample(rule: "private-key", key: "file", text: pem($0)) }
    let escaped = body.replacing("\n", with: "\\n")
    samples += [
      Sample(
        rule: "private-key", key: "file",
        text: #"{"kind":"service","material":"-----BEGIN PRIVATE KEY"# + #"-----\n\#(escaped)"}"#),
      Sample(
        rule: "putty-private-key", key: "file",
        text: "PuTTY-User-Key-File-3: ssh-ed25519\nEncryption: none\nPublic-Lines: 1\nAAAA\nPrivate-Lines: 1\n" + any(44)),
      Sample(rule: "url-password", key: "remote", text: "https://ada:" + any(9) + "@git.example.org/team/repo.git"),
      Sample(
        rule: "url-password", key: "database", text: "postgres://app:p%40" + any(6) + "@db.example.org:5432/app?sslmode=require"),
      Sample(rule: "url-password", key: "cache", text: "redis://:" + any(12) + "@cache.example.org:6379/0"),
      Sample(rule: "authorization-header", key: "headers", text: "Authorization: Bearer " + url(40)),
      Sample(rule: "authorization-header", key: "headers", text: "Basic " + "YWRhOm" + "h1bnRlcjI="),
      Sample(rule: "netrc", key: "netrc", text: "machine ftp.example.org\n  login ada\n  password " + any(10) + "\n"),
      Sample(rule: "netrc", key: "netrc", text: "# hosts\nmachine a.example.org login ada password " + any(10)),
      Sample(
        rule: "otp-uri", key: "code",
        text: "otpauth" + "://totp/Example:ada?secret=" + draw(Self.upper + "234567", 32) + "&issuer=Example",
        others: ["secret-member"]),
      Sample(rule: "secret-json", key: "settings", text: #"{"user":"ada","password" : ""# + any(9) + #""}"#),
      Sample(
        rule: "secret-member", key: "settings", text: "Server=db.example.org;Database=app;User Id=app;Password=" + any(8) + ";"),
      Sample(rule: "secret-member", key: "lastURL", text: "https://api.example.org/v1/items?page=2&access_token=" + hex(40)),
      Sample(rule: "secret-member", key: "command", text: "env DB_PASSWORD=" + any(8) + " ./run --verbose"),
      Sample(rule: "secret-member", key: "command", text: "LANG=C MYSQL_PWD=" + any(8) + " mysql"),
      Sample(rule: "secret-member", key: "command", text: "docker run -e SMTP_PASS=" + any(8) + " --rm mailer"),
      Sample(rule: "secret-member", key: "settings", text: "user=ada\npassword='" + any(8) + "' \nhost=example.org\n"),
      Sample(rule: "secret-member", key: "argument", text: "--password=" + any(8)),
      Sample(rule: "secret-member", key: "cookie", text: "theme=dark, sessionid=" + any(32)),
      Sample(rule: "secret-member", key: "environment", text: "LANG=C\nexport SERVICE_API_KEY='" + any(32) + "'\n"),
    ]
    return samples
  }

  mutating func named() -> [Sample] {
    [
      Sample(rule: "aws-secret-key", key: "aws_secret_access_key", text: draw(Self.base64, 40), others: ["secret-name"]),
      Sample(rule: "aws-secret-key", key: "awsCredentials", text: draw(Self.base64, 40), others: ["secret-name"]),
      Sample(rule: "heroku-key", key: "HEROKU_API_KEY", text: [8, 4, 4, 4, 12].map { hex($0) }.joined(separator: "-")),
    ]
      + [
        "password", "dbPassword", "user.passwd", "SMTP_PASS", "ftp-pwd", "PASSWORD_PROD", "password2", "oldPassword",
        "clientSecret",
        "mailpassword", "keystorePassphrase", "WIFI_PASSPHRASE", "passwordData", "passwords", "secrets", "api.password.smtp",
        "passwort", "datenbankPasswort", "redis.pass",
      ].map { Sample(rule: "secret-name", key: $0, text: "hunter" + draw(Self.digits, 3)) }
      + [
        "token", "apiKey", "API_KEY", "apikey", "x-auth-token", "GitHub Token", "OAuth2Token", "myAPIToken", "privateKey",
        "secretForMail",
        "token.mail.example.org", "authorization", "refreshToken", "signing_key", "sessionCookie", "deployKey", "otpSeed",
        "sessionid", "session_id", "sessionID", "SESSION_ID", "webSessionId", "PHPSESSID", "JSESSIONID", "app.sessid", "pass",
        "tokens",
        "apiKeys", "credentials", "password.example",
      ].map { Sample(rule: "secret-name", key: $0, text: any(32)) }
      + [Sample(rule: "secret-name", key: "passphrase", text: "four words in order")]
  }

  mutating func all() -> [Sample] { tokens() + structures() + named() + services() + lines() }
}
