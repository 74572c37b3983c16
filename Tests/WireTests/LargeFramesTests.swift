import Testing

@testable import CofferWire

@Suite struct LargeFramesTests {
  @Test func aProcessHasOnePermit() throws {
    let frames = LargeFrames(permits: 2)
    var first = frames.permit(of: 1, milliseconds: 0)
    #expect(first != nil)
    #expect(frames.permit(of: 1, milliseconds: 1) == nil)
    // There was one for another.
    var second = frames.permit(of: 2, milliseconds: 0)
    #expect(second != nil)
    #expect(frames.permit(of: 3, milliseconds: 1) == nil)
    first = nil
    #expect(frames.permit(of: 1, milliseconds: 0) != nil)
    second = nil
    #expect(frames.permit(of: 3, milliseconds: 0) != nil)
    _ = (first, second)
  }

  @Test func theNextGetsAPermitWhenOneIsGivenBack() async throws {
    let frames = LargeFrames(permits: 1)
    var first = frames.permit(of: 1, milliseconds: 0)
    #expect(first != nil)
    async let others = (2..<6).map { process in Task { frames.permit(of: process, milliseconds: 300_000) != nil } }
    first = nil
    _ = first
    for task in await others { #expect(await task.value) }
  }
}
