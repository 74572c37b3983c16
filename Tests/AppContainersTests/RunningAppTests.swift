import AppContainers
import Testing

@Suite struct RunningAppTests {
  static let team = "abcdefghijklmnopqrstuvwxyz234567"
  static let all = [
    "COFFER_APP": "\(team).com.example.editor", "COFFER_CONTAINER": "/d/Containers/x",
    "COFFER_APP_GROUPS": "/d/Groups/\(team).data\n/d/Groups/\(team).a b",
  ]

  private func app(_ environment: [String: String], isElevated: Bool = false) -> RunningApp? {
    RunningApp(isElevated: isElevated) { environment[$0] }
  }

  @Test func theEnvironmentNamesTheApp() throws {
    let app = try #require(self.app(Self.all))
    #expect(app.application == "\(Self.team).com.example.editor" && app.identifier == "com.example.editor")
    #expect(app.preferences == "/d/Containers/x/Library/Preferences")
    #expect(app.preferences(ofGroup: "\(Self.team).data") == "/d/Groups/\(Self.team).data/Library/Preferences")
    #expect(app.preferences(ofGroup: "\(Self.team).a b") != nil)
    #expect(app.preferences(ofGroup: "\(Self.team).other") == nil)
  }

  @Test(arguments: ["COFFER_APP", "COFFER_CONTAINER"]) func withoutOneOfThemItIsNoApp(name: String) {
    var environment = Self.all
    environment[name] = nil
    #expect(app(environment) == nil)
    environment[name] = ""
    #expect(app(environment) == nil)
  }

  @Test func relativePathsDoNotCount() throws {
    #expect(app(Self.all.merging(["COFFER_CONTAINER": "x"]) { $1 }) == nil)
    #expect(try #require(app(Self.all.merging(["COFFER_APP_GROUPS": "Groups/x"]) { $1 })).groups.isEmpty)
  }

  @Test func noVariableCountsWithTheRightsOfAnother() { #expect(app(Self.all, isElevated: true) == nil) }

  @Test func namesOfGroupsBeginWithATeam() {
    #expect(RunningApp.isGroupOfATeam("\(Self.team).x"))
    for name in ["", "com.example.app", Self.team, "\(Self.team).", "\(Self.team)x.y", Self.team.uppercased() + ".x"] {
      #expect(!RunningApp.isGroupOfATeam(name), "\(name)")
    }
  }
}
