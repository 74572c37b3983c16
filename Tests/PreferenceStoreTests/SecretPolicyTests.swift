import CofferPreferences
import Foundation
import PreferenceStore
import Testing

import class PreferenceStore.UserDefaults

/// The policy applies to the whole process, so each test runs in its own.
@Suite struct SecretPolicyTests {
  /// The log of the process until a line about `last`, which follows all earlier lines. Waits for that line instead of a fixed
  /// time.
  static func log(until last: String, _ body: () throws -> Void) rethrows -> String {
    let pipe = Pipe()
    let before = dup(STDERR_FILENO)
    // Restores standard error, so that later messages have a reader as well.
    defer {
      dup2(before, STDERR_FILENO)
      close(before)
    }
    dup2(pipe.fileHandleForWriting.fileDescriptor, STDERR_FILENO)
    try body()
    var text = ""
    while !text.contains(last) {
      let data = pipe.fileHandleForReading.availableData
      guard !data.isEmpty else { break }
      text += String(decoding: data, as: UTF8.self)
    }
    return text
  }

  @Test func byDefaultAnythingIsStored() async {
    await #expect(processExitsWith: .success) {
      let fixture = try StoreFixture()
      defer { withExtendedLifetime(fixture) {} }
      let defaults = try fixture.standard
      defaults.set("hunter2", forKey: "password")
      #expect(UserDefaults.secretPolicy == .allow)
      #expect(defaults.string(forKey: "password") == "hunter2")
    }
  }

  @Test(.timeLimit(.minutes(60))) func aWarningNamesTheKeyAndTheRuleAndNotTheValue() async {
    await #expect(processExitsWith: .success) {
      let fixture = try StoreFixture()
      defer { withExtendedLifetime(fixture) {} }
      let defaults = try fixture.standard
      UserDefaults.secretPolicy = .warn
      let text = try Self.log(until: "last.password of ") {
        defaults.set("hunter2", forKey: "password")
        try defaults.store(["smtp": ["password": "hunter2"]], forKey: "servers")
        defaults.set(12, forKey: "passwordLength")
        defaults.set("hunter2", forKey: "last.password")
      }
      #expect(defaults.string(forKey: "password") == "hunter2")
      #expect(text.contains(" password of "), "\(text)")
      #expect(text.contains("servers.smtp.password of "), "\(text)")
      #expect(text.contains("looks like a secret (secret-name)"), "\(text)")
      #expect(!text.contains("hunter2") && !text.contains("passwordLength"), "\(text)")
    }
  }

  @Test(.timeLimit(.minutes(60))) func aRefusedSettingStaysAsItWas() async {
    await #expect(processExitsWith: .success) {
      let fixture = try StoreFixture()
      defer { withExtendedLifetime(fixture) {} }
      let defaults = try fixture.standard
      defaults.set("hunter1", forKey: "password")
      UserDefaults.secretPolicy = .refuse
      let token = "npm" + "_" + String(repeating: "aB3dE7", count: 6)
      let text = Self.log(until: "last.password: ") {
        defaults.set("hunter2", forKey: "password")
        defaults.set(token, forKey: "note")
        defaults.set(true, forKey: token)
        defaults.set("hunter2", forKey: "last.password")
      }
      #expect(text.contains("a value for ") && text.contains("was refused: looksLikeSecret, password: secret-name"), "\(text)")
      #expect(!text.contains("hunter2") && !text.contains(token), "\(text)")
      for (value, key) in [(token, "note"), ("hunter2", "password"), ("x", token)] {
        #expect(throws: PreferenceError(.looksLikeSecret)) { try defaults.store(value, forKey: key) }
      }
      #expect(throws: PreferenceError(.looksLikeSecret)) { try defaults.seed(["apiKey.note": token]) }
      defaults.setPersistentDomain(["password": "hunter3", "volume": 1], forName: "com.example.other")
      #expect(defaults.persistentDomain(forName: "com.example.other") == nil)
      #expect(defaults.object(forKey: "note") == nil && defaults.object(forKey: token) == nil)
      // Stored values can be read and removed; values that are not secret are stored.
      #expect(defaults.string(forKey: "password") == "hunter1")
      defaults.set("Ada", forKey: "name")
      try defaults.store(0.5, forKey: "volume")
      #expect(defaults.string(forKey: "name") == "Ada" && defaults.double(forKey: "volume") == 0.5)
      defaults.removeObject(forKey: "password")
      #expect(defaults.object(forKey: "password") == nil)
      UserDefaults.secretPolicy = .allow
      defaults.set("hunter2", forKey: "password")
      #expect(defaults.string(forKey: "password") == "hunter2")
    }
  }

  @Test func otherProcessesAreNotAffected() async throws {
    let result = try await #require(processExitsWith: .success, observing: [\.standardOutputContent]) {
      let probe = try ProcessTests.Probe()
      UserDefaults.secretPolicy = .refuse
      let first = try probe.run("set", "standard", "hunter2", "password")
      let second = try probe.run("get", "standard", "password")
      print(first.output, second.output)
    }
    #expect(String(decoding: result.standardOutputContent, as: UTF8.self).contains("hunter2"))
  }
}
