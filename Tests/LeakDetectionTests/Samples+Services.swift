/// Drawn after the others, so that the others do not change.
extension SampleMaker {
  mutating func services() -> [Sample] {
    let forms: [(String, String)] = [
      ("azure-shared-access", "https://a.example.org/b?sv=1&sig=" + any(43) + "%3D"),
      ("google-refresh-token", "1/" + "/0" + url(61)),
      ("firebase-server-key", "AA" + "AA" + url(7) + ":APA91b" + url(134)), ("cargo-token", "ci" + "o" + any(32)),
      ("nuget-key", "oy" + "2" + lowAlphanumeric(43)), ("perplexity-key", "pplx" + "-" + any(48)),
      ("xai-key", "xa" + "i-" + any(80)),
      ("elevenlabs-key", "sk" + "_" + hex(48)), ("mailgun-key", "ke" + "y-" + hex(32)), ("mailchimp-key", hex(32) + "-us" + "12"),
      ("brevo-key", "xkey" + "sib-" + hex(64) + "-" + any(16)), ("heroku-token", "HR" + "KU-" + url(60)),
      ("square-application-token", "EA" + "AA" + url(60)), ("facebook-token", "EA" + "AM" + any(120)),
      ("facebook-token", "EA" + "AC" + any(120)), ("grafana-cloud-token", "gl" + "c_" + any(60)),
      ("airtable-token", "pa" + "t" + any(14) + "." + hex(64)), ("dropbox-token", "s" + "l." + url(136)),
      ("bitbucket-token", "AT" + "BB" + any(32)), ("bitbucket-token", "AT" + "CTT3" + url(186)),
      ("netlify-token", "nf" + "p_" + any(36)),
      ("render-key", "rn" + "d_" + any(28)), ("neon-key", "na" + "pi_" + any(64)),
      ("terraform-token", any(14) + ".atlas" + "v1." + url(67)), ("sonar-token", "sq" + "u_" + hex(40)),
      ("sonar-token", "sq" + "p_" + hex(40)), ("sonar-token", "sq" + "a_" + hex(40)), ("buildkite-token", "bk" + "ua_" + hex(40)),
      ("sourcegraph-token", "sg" + "p_" + hex(40)), ("sourcegraph-token", "sg" + "p_local_" + hex(40)),
      ("openshift-token", "sha" + "256~" + url(43)), ("mapbox-token", "s" + "k.eyJ" + url(80) + "." + url(22)),
      ("dynatrace-token", "dt0" + "c01." + capitals(24) + "." + capitals(64)), ("prefect-key", "pn" + "u_" + any(36)),
      ("readme-key", "rd" + "me_" + lowAlphanumeric(70)), ("shippo-token", "shippo" + "_live_" + hex(40)),
      ("shippo-token", "shippo" + "_test_" + hex(40)), ("easypost-key", "EZ" + "AK" + any(54)),
      ("easypost-key", "EZ" + "TK" + any(54)),
      ("duffel-token", "duffel" + "_live_" + url(43)), ("duffel-token", "duffel" + "_test_" + url(43)),
      ("adafruit-key", "ai" + "o_" + any(28)), ("contentful-token", "CF" + "PAT-" + url(43)),
      ("hubspot-token", "pat-" + "na1-" + uuid()), ("hubspot-token", "pat-" + "eu1-" + uuid()),
      ("typeform-token", "tf" + "p_" + url(44) + "_" + any(14)), ("yandex-key", "AQ" + "VN" + url(36)),
      ("alibaba-key", "LT" + "AI" + any(20)),
      ("artifactory-key", "AK" + "Cp" + any(69)), ("artifactory-key", "cm" + "Vmd" + any(59)),
      ("cloudflare-origin-key", "v1" + ".0-" + hex(24) + "-" + hex(146)), ("fly-token", "fo" + "1_" + url(43)),
      ("fly-token", "fm" + "2_" + any(120)), ("frameio-token", "fio" + "-u-" + url(64)),
      ("clojars-token", "CLO" + "JARS_" + lowAlphanumeric(60)),
      ("infracost-key", "ic" + "o-" + any(32)), ("octopus-key", "AP" + "I-" + capitals(26)),
      ("scalingo-token", "tk" + "-us-" + url(48)),
      ("harness-token", "pa" + "t." + url(22) + "." + any(24) + "." + any(20)),
      ("onepassword-secret-key", "A" + "3-" + [6, 6, 5, 5, 5, 5].map { capitals($0) }.joined(separator: "-")),
      ("lob-key", "li" + "ve_" + hex(35)), ("flutterwave-key", "FLW" + "SECK_TEST-" + hex(32)),
      ("flutterwave-key", "FLW" + "SECK-" + hex(32)),
      ("razorpay-key", "rzp" + "_live_" + any(14) + ":" + any(24)),
    ]
    return forms.map { Sample(rule: $0.0, key: "value", text: $0.1) }
  }

  mutating func lowAlphanumeric(_ count: Int) -> String { draw(Self.lower + Self.digits, count) }
  mutating func uuid() -> String { [8, 4, 4, 4, 12].map { hex($0) }.joined(separator: "-") }

  /// Secrets in lines of configuration, commands and queries, and passwords of several words.
  mutating func lines() -> [Sample] {
    [
      Sample(rule: "secret-member", key: "lastURL", text: "https://example.org/feed?user=ada&password=" + any(8)),
      Sample(
        rule: "secret-member", key: "jdbc", text: "jdbc:postgresql://db.example.org/app?user=app&password=" + any(8) + "&ssl=true"
      ),
      Sample(rule: "secret-member", key: "libpq", text: "host=db.example.org user=app password=" + any(8) + " dbname=app"),
      Sample(rule: "secret-member", key: "toml", text: "[registry]\ntoken = \"" + any(40) + "\"\nurl = \"https://example.org\""),
      Sample(rule: "secret-member", key: "command", text: "mysqldump --password=" + any(8) + " app >app.sql"),
      Sample(rule: "secret-line", key: "yaml", text: "user: ada\npassword: " + any(8) + "  # the new one\nhost: db\n"),
      Sample(rule: "secret-line", key: "yaml", text: "password: hunter" + draw(Self.digits, 2)),
      Sample(rule: "secret-line", key: "yaml", text: "users:\n- name: ada\n  user:\n    token: " + any(40) + "\n"),
      Sample(rule: "secret-line", key: "yaml", text: "database: {user: ada, password: " + any(8) + "}"),
      Sample(rule: "secret-line", key: "header", text: "curl -H 'X-Auth-Token: " + hex(40) + "' https://example.org"),
      Sample(rule: "secret-element", key: "settings", text: "<server><password>" + any(9) + "</password></server>"),
      Sample(rule: "secret-code", key: "settings", text: "<?php define('DB_PASSWORD', '" + any(9) + "');"),
      Sample(rule: "secret-code", key: "settings", text: "array('password' => '" + any(9) + "')"),
      Sample(rule: "secret-argument", key: "history", text: "curl -s -u ada:" + any(8) + " https://example.org"),
      Sample(rule: "secret-argument", key: "history", text: "cd /tmp && sudo mysql -u root -p" + any(8) + " app"),
      Sample(rule: "secret-argument", key: "history", text: "ls | sshpass -p " + any(8) + " ssh ada@example.org"),
      Sample(rule: "secret-argument", key: "history", text: "docker login registry.example.org -u ada -p " + any(8)),
      Sample(rule: "secret-argument", key: "history", text: "openssl rsa -in a.pem -passin pass:" + any(8)),
      Sample(rule: "secret-argument", key: "history", text: "svn update --username ada --password hunter" + draw(Self.digits, 2)),
      Sample(rule: "oracle-password", key: "url", text: "jdbc:oracle:thin:scott/" + any(8) + "@//db.example.org:1521/x"),
      Sample(rule: "pgpass", key: "file", text: "db.example.org:5432:app:ada:" + any(9) + "\n"),
      Sample(rule: "azure-client-secret", key: "value", text: any(3) + "8" + "Q~" + any(34)),
    ]
      + ["password", "smtp.password", "masterPassword", "wifi_password"].map {
        Sample(rule: "secret-name", key: $0, text: "correct horse battery" + draw(Self.digits, 2))
      }
      + ["password", "smtp.password"].map { Sample(rule: "secret-name", key: $0, text: "Correct Horse Battery Staple") }
      + ["seedPhrase", "recovery_phrase"].map {
        Sample(rule: "secret-name", key: $0, text: "abandon ability able about above absent")
      }
      + [Sample(rule: "secret-name", key: "client_secret", text: uuid())]
  }
}
