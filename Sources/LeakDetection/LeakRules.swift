/// All rules, in order of precedence. A form is listed if its owner has published it, or if every known token has it; lengths are
/// lower bounds if the owner states that they may grow.
///
/// Checksums inside tokens (GitHub's, npm's) are not verified: a token with a typing error still contains most of a secret.
package enum LeakRules {
  package static let all: [LeakRule] = allTokens + structures + names

  static let allTokens = tokenForms + serviceTokens

  static let structures: [LeakRule] = [
    LeakRule(
      "private-key", from: "RFC 7468, OpenSSH PROTOCOL.key, RFC 9580", signs: "-PRIVATEKY", text: StructuredSecret.isPEMPrivateKey
    ),
    LeakRule("putty-private-key", from: "PuTTY manual, appendix C", signs: "PTY-:", text: StructuredSecret.isPuTTYPrivateKey),
    LeakRule("url-password", from: "RFC 3986, 3.2.1", signs: ":/@", text: StructuredSecret.isURLWithPassword),
    LeakRule("authorization-header", from: "RFC 6750, RFC 7617", signs: " ", text: StructuredSecret.isAuthorization),
    LeakRule("netrc", from: "ftp(1), curl(1)", signs: "machinelogpswrd", text: StructuredSecret.isNetrc),
    LeakRule(
      "otp-uri", from: "Key Uri Format of Google Authenticator", signs: "otpauh:/?=", text: StructuredSecret.isOneTimePasswordURI),
    LeakRule("secret-member", from: "the names of pairs and their values", signs: "=", text: SecretMember.isInPairs),
    LeakRule("secret-json", from: "RFC 8259, the names of members and their values", signs: "\":", text: SecretMember.isInJSON),
    LeakRule("secret-line", from: "YAML 1.2, RFC 9110, 5", signs: ": ", text: SecretLine.isInYAML),
    LeakRule("secret-element", from: "XML 1.0", signs: "</>", text: SecretLine.isInXML),
    LeakRule("secret-code", from: "the manual of PHP", signs: "'", text: SecretLine.isInCode),
    LeakRule("secret-argument", from: "the manuals of the programs", signs: " -", text: SecretArgument.isInCommand),
    LeakRule(
      "oracle-password", from: "Oracle JDBC Developer's Guide", signs: "jdbc:orale/@", text: SecretConnection.isOracleJDBC),
    LeakRule("pgpass", from: "PostgreSQL manual, 34.16", signs: ":", text: SecretConnection.isPgpass),
    LeakRule("azure-client-secret", from: "Microsoft Entra ID", signs: "Q~", text: SecretConnection.isAzureClientSecret),
  ]

  static let names: [LeakRule] = [
    LeakRule("aws-secret-key", from: "AWS IAM", named: SecretUnderName.isAWSSecretKey),
    LeakRule("heroku-key", from: "Heroku Platform API", named: SecretUnderName.isHerokuKey),
    LeakRule("secret-name", from: "the name of the value, and what it looks like", named: SecretUnderName.matches),
  ]

  static let tokenForms: [LeakRule] = [
    LeakRule(
      "github-token", from: "GitHub, formats of authentication tokens",
      .init("ghp_", .alphanumeric, 36...251), .init("gho_", .alphanumeric, 36...251), .init("ghu_", .alphanumeric, 36...251),
      .init("ghs_", .word, 36...), .init("ghr_", .alphanumeric, 36...251), .init("github_pat_", .word, 82...251)),
    LeakRule(
      "gitlab-token", from: "GitLab, token overview",
      .init("glpat-", .gitLab, 20...), .init("gldt-", .gitLab, 20...), .init("glrt-", .gitLab, 20...),
      .init("glptt-", .gitLab, 20...), .init("glcbt-", .gitLab, 20...), .init("glft-", .gitLab, 20...),
      .init("glsoat-", .gitLab, 20...), .init("gloas-", .gitLab, 20...), .init("glagent-", .gitLab, 20...)),
    LeakRule(
      "slack-token", from: "Slack, token types",
      .init("xoxb-", .base64URL, 20...), .init("xoxp-", .base64URL, 20...), .init("xoxa-", .base64URL, 20...),
      .init("xoxr-", .base64URL, 20...), .init("xoxs-", .base64URL, 20...), .init("xoxc-", .base64URL, 20...),
      .init("xoxd-", .token68, 20...), .init("xoxe-", .base64URL, 20...), .init("xoxe.xoxp-", .base64URL, 20...),
      .init("xoxe.xoxb-", .base64URL, 20...), .init("xapp-", .base64URL, 20...)),
    LeakRule(
      "slack-webhook", from: "Slack, incoming webhooks",
      .init("hooks.slack.com/services/T", .upperAlphanumeric, 8...).then("/B", .upperAlphanumeric, 8...)
        .then("/", .alphanumeric, 20...)),
    LeakRule(
      "discord-webhook", from: "Discord, webhook resource",
      .init("discord.com/api/webhooks/", .digits, 17...20).then("/", .base64URL, 60...),
      .init("discordapp.com/api/webhooks/", .digits, 17...20).then("/", .base64URL, 60...)),
    LeakRule(
      "discord-token", from: "Discord, authentication",
      .init("M", .base64URL, 23...27).then(".", .base64URL, 6).then(".", .base64URL, 27...40),
      .init("N", .base64URL, 23...27).then(".", .base64URL, 6).then(".", .base64URL, 27...40),
      .init("O", .base64URL, 23...27).then(".", .base64URL, 6).then(".", .base64URL, 27...40)),
    LeakRule("telegram-token", from: "Telegram Bot API", .init("", .digits, 8...10).then(":AA", .base64URL, 32...33)),
    LeakRule(
      "aws-access-key", from: "AWS IAM, unique identifiers", .init("AKIA", .upperAlphanumeric, 16),
      .init("ASIA", .upperAlphanumeric, 16)),
    LeakRule("google-api-key", from: "Google Cloud, API keys", .init("AIza", .base64URL, 35)),
    LeakRule(
      "google-oauth", from: "Google Identity, OAuth 2.0", .init("GOCSPX-", .base64URL, 28), .init("ya29.", .base64URL, 30...)),
    LeakRule(
      "azure-key", from: "Azure Storage and Service Bus, connection strings",
      .init("AccountKey=", .base64, 44...), .init("SharedAccessKey=", .base64, 40...)),
    LeakRule(
      "stripe-key", from: "Stripe, API keys",
      .init("sk_live_", .alphanumeric, 16...), .init("rk_live_", .alphanumeric, 16...), .init("sk_test_", .alphanumeric, 16...),
      .init("rk_test_", .alphanumeric, 16...), .init("whsec_", .base64, 32...)),
    LeakRule("npm-token", from: "npm, about access tokens", .init("npm_", .alphanumeric, 36)),
    LeakRule("pypi-token", from: "PyPI, API tokens (macaroons)", .init("pypi-AgE", .base64URL, 50...)),
    LeakRule("rubygems-key", from: "RubyGems, API key", .init("rubygems_", .hex, 48)),
    LeakRule(
      "anthropic-key", from: "Anthropic API", .init("sk-ant-", .base64URL, 32...)),
    LeakRule(
      "openai-key", from: "OpenAI API",
      .init("sk-", .alphanumeric, 48), .init("sk-proj-", .base64URL, 40...), .init("sk-svcacct-", .base64URL, 40...),
      .init("sk-admin-", .base64URL, 40...)),
    LeakRule("openrouter-key", from: "OpenRouter API", .init("sk-or-v1-", .hex, 64)),
    LeakRule("huggingface-token", from: "Hugging Face, access tokens", .init("hf_", .alphanumeric, 34)),
    LeakRule("groq-key", from: "Groq API", .init("gsk_", .alphanumeric, 52)),
    LeakRule("replicate-token", from: "Replicate API", .init("r8_", .alphanumeric, 37)),
    LeakRule("sendgrid-key", from: "Twilio SendGrid API", .init("SG.", .base64URL, 22).then(".", .base64URL, 43)),
    LeakRule("twilio-key", from: "Twilio, API keys", .init("SK", .hex, 32)),
    LeakRule(
      "digitalocean-token", from: "DigitalOcean API",
      .init("dop_v1_", .hex, 64), .init("doo_v1_", .hex, 64), .init("dor_v1_", .hex, 64)),
    LeakRule(
      "vault-token", from: "HashiCorp Vault, tokens",
      .init("hvs.", .base64URL, 24...), .init("hvb.", .base64URL, 24...), .init("hvr.", .base64URL, 24...)),
    LeakRule(
      "docker-token", from: "Docker Hub, access tokens", .init("dckr_pat_", .base64URL, 27), .init("dckr_oat_", .base64URL, 27...)
    ),
    LeakRule("databricks-token", from: "Databricks, personal access tokens", .init("dapi", .hex, 32)),
    LeakRule(
      "shopify-token", from: "Shopify, access tokens",
      .init("shpat_", .anyHex, 32), .init("shpca_", .anyHex, 32), .init("shppa_", .anyHex, 32), .init("shpss_", .anyHex, 32)),
    LeakRule("square-token", from: "Square, access tokens", .init("sq0atp-", .base64URL, 22), .init("sq0csp-", .base64URL, 43)),
    LeakRule("grafana-token", from: "Grafana, service accounts", .init("glsa_", .alphanumeric, 32).then("_", .anyHex, 8)),
    LeakRule("postman-key", from: "Postman API", .init("PMAK-", .hex, 24).then("-", .hex, 34)),
    LeakRule("newrelic-key", from: "New Relic, API keys", .init("NRAK-", .upperAlphanumeric, 27)),
    LeakRule("linear-key", from: "Linear API", .init("lin_api_", .alphanumeric, 40)),
    LeakRule("figma-token", from: "Figma, personal access tokens", .init("figd_", .base64URL, 40...)),
    LeakRule("notion-token", from: "Notion API", .init("ntn_", .alphanumeric, 46), .init("secret_", .alphanumeric, 43)),
    LeakRule("doppler-token", from: "Doppler, token formats", .init("dp.pt.", .alphanumeric, 40...44)),
    LeakRule("pulumi-token", from: "Pulumi, access tokens", .init("pul-", .hex, 40)),
    LeakRule("supabase-token", from: "Supabase Management API", .init("sbp_", .hex, 40)),
    LeakRule(
      "planetscale-token", from: "PlanetScale, service tokens",
      .init("pscale_tkn_", .base64URL, 32...), .init("pscale_pw_", .base64URL, 32...)),
    LeakRule("sentry-token", from: "Sentry, auth tokens", .init("sntryu_", .hex, 64), .init("sntrys_", .token68, 60...)),
    LeakRule("atlassian-token", from: "Atlassian, API tokens", .init("ATATT3", .token68, 180...)),
    LeakRule("tailscale-key", from: "Tailscale, key prefixes", .init("tskey-", .base64URL, 20...)),
    LeakRule(
      "age-key", from: "age, C2SP/age",
      .init("AGE-SECRET-KEY-1", .upperBech32, 58), .init("AGE-SECRET-KEY-PQ-1", .upperBech32, 58...)),
    LeakRule("nostr-key", from: "Nostr, NIP-19", .init("nsec1", .lowerBech32, 58)),
    LeakRule("onepassword-token", from: "1Password, service accounts", .init("ops_eyJ", .base64URL, 100...)),
    LeakRule(
      "jwt", from: "RFC 7519, RFC 7515",
      .init("eyJ", .base64URL, 10...4096).then(".eyJ", .base64URL, 10...65536).then(".", .base64URL, 16...)),
  ]

  static let tokens = TokenIndex(allTokens)
}
