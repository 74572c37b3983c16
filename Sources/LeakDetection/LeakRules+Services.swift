extension LeakRules {
  /// The token forms of single services: prefix, alphabet and length. The services have published most of them; all are in the
  /// public rule sets of repository scanners.
  static let serviceTokens: [LeakRule] = [
    LeakRule("azure-shared-access", from: "Azure Storage, SAS tokens", .init("sig=", .percentEncoded, 44...64)),
    LeakRule("google-refresh-token", from: "Google Identity, OAuth 2.0", .init("1//0", .base64URL, 40...)),
    LeakRule(
      "firebase-server-key", from: "Firebase Cloud Messaging", .init("AAAA", .base64URL, 7).then(":APA91b", .base64URL, 134)),
    LeakRule("cargo-token", from: "crates.io, API tokens", .init("cio", .alphanumeric, 32)),
    LeakRule("nuget-key", from: "NuGet Gallery, API keys", .init("oy2", .lowerAlphanumeric, 43)),
    LeakRule("perplexity-key", from: "Perplexity API", .init("pplx-", .alphanumeric, 48)),
    LeakRule("xai-key", from: "xAI API", .init("xai-", .alphanumeric, 70...)),
    LeakRule("elevenlabs-key", from: "ElevenLabs API", .init("sk_", .hex, 48)),
    LeakRule("mailgun-key", from: "Mailgun API", .init("key-", .hex, 32)),
    LeakRule("mailchimp-key", from: "Mailchimp Marketing API", .init("", .hex, 32).then("-us", .digits, 1...2)),
    LeakRule("brevo-key", from: "Brevo API", .init("xkeysib-", .hex, 64).then("-", .alphanumeric, 16)),
    LeakRule("heroku-token", from: "Heroku Platform API", .init("HRKU-", .base64URL, 36...)),
    LeakRule("square-application-token", from: "Square, access tokens", .init("EAAA", .base64URL, 56...)),
    LeakRule(
      "facebook-token", from: "Meta, access tokens", .init("EAAM", .alphanumeric, 100...), .init("EAAC", .alphanumeric, 100...)),
    LeakRule("grafana-cloud-token", from: "Grafana Cloud, access policies", .init("glc_", .base64, 32...400)),
    LeakRule("airtable-token", from: "Airtable, personal access tokens", .init("pat", .alphanumeric, 14).then(".", .hex, 64)),
    LeakRule("dropbox-token", from: "Dropbox API", .init("sl.", .base64URL, 130...)),
    LeakRule(
      "bitbucket-token", from: "Bitbucket, app passwords and access tokens", .init("ATBB", .alphanumeric, 32),
      .init("ATCTT3", .token68, 180...)),
    LeakRule("netlify-token", from: "Netlify, personal access tokens", .init("nfp_", .alphanumeric, 36)),
    LeakRule("render-key", from: "Render API", .init("rnd_", .alphanumeric, 28...)),
    LeakRule("neon-key", from: "Neon API", .init("napi_", .alphanumeric, 60...)),
    LeakRule(
      "terraform-token", from: "HCP Terraform, API tokens", .init("", .alphanumeric, 14).then(".atlasv1.", .token68, 60...70)),
    LeakRule(
      "sonar-token", from: "SonarQube, user tokens", .init("squ_", .hex, 40), .init("sqp_", .hex, 40), .init("sqa_", .hex, 40)),
    LeakRule("buildkite-token", from: "Buildkite API", .init("bkua_", .hex, 40)),
    LeakRule(
      "sourcegraph-token", from: "Sourcegraph, access tokens", .init("sgp_", .anyHex, 40),
      .init("sgp_", .alphanumeric, 5...16).then("_", .anyHex, 40)),
    LeakRule("openshift-token", from: "OpenShift, OAuth access tokens", .init("sha256~", .base64URL, 43)),
    LeakRule("mapbox-token", from: "Mapbox, access tokens", .init("sk.eyJ", .base64URL, 40...).then(".", .base64URL, 22)),
    LeakRule(
      "dynatrace-token", from: "Dynatrace, access tokens",
      .init("dt0c01.", .upperAlphanumeric, 24).then(".", .upperAlphanumeric, 64)),
    LeakRule("prefect-key", from: "Prefect Cloud API", .init("pnu_", .alphanumeric, 36)),
    LeakRule("readme-key", from: "ReadMe API", .init("rdme_", .lowerAlphanumeric, 70)),
    LeakRule("shippo-token", from: "Shippo API", .init("shippo_live_", .anyHex, 40), .init("shippo_test_", .anyHex, 40)),
    LeakRule("easypost-key", from: "EasyPost API", .init("EZAK", .alphanumeric, 54), .init("EZTK", .alphanumeric, 54)),
    LeakRule("duffel-token", from: "Duffel API", .init("duffel_live_", .base64URL, 43), .init("duffel_test_", .base64URL, 43)),
    LeakRule("adafruit-key", from: "Adafruit IO", .init("aio_", .alphanumeric, 28)),
    LeakRule("contentful-token", from: "Contentful, personal access tokens", .init("CFPAT-", .base64URL, 43)),
    LeakRule(
      "hubspot-token", from: "HubSpot, private apps", .init("pat-na1-", .hexAndDash, 36), .init("pat-eu1-", .hexAndDash, 36)),
    LeakRule("typeform-token", from: "Typeform API", .init("tfp_", .gitLab, 59)),
    LeakRule("yandex-key", from: "Yandex Cloud, API keys", .init("AQVN", .base64URL, 35...38)),
    LeakRule("alibaba-key", from: "Alibaba Cloud, AccessKey", .init("LTAI", .alphanumeric, 20)),
    LeakRule("artifactory-key", from: "JFrog Artifactory", .init("AKCp", .alphanumeric, 69), .init("cmVmd", .alphanumeric, 59)),
    LeakRule("cloudflare-origin-key", from: "Cloudflare, Origin CA keys", .init("v1.0-", .hex, 24).then("-", .hex, 146)),
    LeakRule("fly-token", from: "Fly.io, access tokens", .init("fo1_", .base64URL, 43), .init("fm2_", .base64, 100...)),
    LeakRule("frameio-token", from: "Frame.io API", .init("fio-u-", .base64URL, 64)),
    LeakRule("clojars-token", from: "Clojars, deploy tokens", .init("CLOJARS_", .lowerAlphanumeric, 60)),
    LeakRule("infracost-key", from: "Infracost Cloud", .init("ico-", .alphanumeric, 32)),
    LeakRule("octopus-key", from: "Octopus Deploy API", .init("API-", .upperAlphanumeric, 26)),
    LeakRule("scalingo-token", from: "Scalingo API", .init("tk-us-", .base64URL, 48)),
    LeakRule(
      "harness-token", from: "Harness API",
      .init("pat.", .base64URL, 22).then(".", .alphanumeric, 24).then(".", .alphanumeric, 20)),
    LeakRule(
      "onepassword-secret-key", from: "1Password, Secret Key",
      .init("A3-", .upperAlphanumeric, 6).then("-", .upperAlphanumeric, 6).then("-", .upperAlphanumeric, 5).then(
        "-", .upperAlphanumeric, 5
      ).then("-", .upperAlphanumeric, 5).then("-", .upperAlphanumeric, 5)),
    LeakRule("lob-key", from: "Lob API", .init("live_", .hex, 35)),
    LeakRule("flutterwave-key", from: "Flutterwave API", .init("FLWSECK_TEST-", .hex, 32), .init("FLWSECK-", .hex, 32)),
    LeakRule(
      "razorpay-key", from: "Razorpay API, key and secret", .init("rzp_live_", .alphanumeric, 14).then(":", .alphanumeric, 24)),
  ]
}
