import Foundation
import PreferenceStore
import Preferences
import Testing

import class PreferenceStore.UserDefaults

/// The policy is the process's, so each test has one of its own.
@Suite struct SecretPolicyTests {
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

  @Test func aWarningNamesTheKeyAndTheRuleAndNotTheValue() async throws {
    let result = try await #require(processExitsWith: .success, observing: [\.standardErrorContent]) {
      let fixture = try StoreFixture()
      defer { withExtendedLifetime(fixture) {} }
      let defaults = try fixture.standard
      UserDefaults.secretPolicy = .warn
      defaults.set("hunter2", forKey: "password")
      try defaults.store(["smtp": ["password": "hunter2"]], forKey: "servers")
      defaults.set(12, forKey: "passwordLength")
      try #require(defaults.string(forKey: "password") == "hunter2")
    }
    let text = String(decoding: result.standardErrorContent, as: UTF8.self)
    #expect(text.contains("password of "))
    #expect(text.contains("servers.smtp.password of "))
    #expect(text.contains("looks like a secret (secret-name)"))
    #expect(!text.contains("hunter2") && !text.contains("passwordLength"))
  }

  @Test func aRefusedSettingStaysAsItWas() async throws {
    let result = try await #require(processExitsWith: .success, observing: [\.standardErrorContent]) {
      let fixture = try StoreFixture()
      defer { withExtendedLifetime(fixture) {} }
      let defaults = try fixture.standard
      defaults.set("hunter1", forKey: "password")
      UserDefaults.secretPolicy = .refuse
      let token = "npm" + "_" + String(repeating: "aB3dE7", count: 6)
      defaults.set("hunter2", forKey: "password")
      defaults.set(token, forKey: "note")
      defaults.set(true, forKey: token)
      for (value, key) in [(token, "note"), ("hunter2", "password"), ("x", token)] {
        #expect(throws: PreferenceError(.looksLikeSecret)) { try defaults.store(value, forKey: key) }
      }
      #expect(throws: PreferenceError(.looksLikeSecret)) { try defaults.seed(["apiKey.note": token]) }
      defaults.setPersistentDomain(["password": "hunter3", "volume": 1], forName: "com.example.other")
      #expect(defaults.persistentDomain(forName: "com.example.other") == nil)
      #expect(defaults.object(forKey: "note") == nil && defaults.object(forKey: token) == nil)
      // What is stored is read, and may be removed; what is no secret is stored.
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
    let text = String(decoding: result.standardErrorContent, as: UTF8.self)
    #expect(text.contains("a value for ") && text.contains("was refused: looksLikeSecret, password: secret-name"))
    #expect(!text.contains("hunter2") && !text.contains("aB3dE7aB3dE7"))
  }

  @Test func otherProcessesAreNotAffected() async throws {
    let result = try await #require(processExitsWith: .success, observing: [\.standardOutputContent]) {
      let probe = try ProcessTests.Probe()
      UserDefaults.secretPolicy = .refuse
      let first = try probe.run("set", "standard", "password", "hunter2")
      let second = try probe.run("get", "standard", "password")
      print(first.output, second.output)
    }
    #expect(String(decoding: result.standardOutputContent, as: UTF8.self).contains("hunter2"))
  }
}
