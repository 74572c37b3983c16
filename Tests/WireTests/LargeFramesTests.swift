import Testing

@testable import Wire

@Suite struct LargeFramesTests {
  @Test func aProcessHasOneSeat() throws {
    let frames = LargeFrames(seats: 2)
    var first = frames.seat(of: 1, milliseconds: 0)
    #expect(first != nil)
    #expect(frames.seat(of: 1, milliseconds: 1) == nil)
    // There was one for another.
    var second = frames.seat(of: 2, milliseconds: 0)
    #expect(second != nil)
    #expect(frames.seat(of: 3, milliseconds: 1) == nil)
    first = nil
    #expect(frames.seat(of: 1, milliseconds: 0) != nil)
    second = nil
    #expect(frames.seat(of: 3, milliseconds: 0) != nil)
    _ = (first, second)
  }

  @Test func theNextGetsASeatWhenOneIsGivenBack() async throws {
    let frames = LargeFrames(seats: 1)
    var first = frames.seat(of: 1, milliseconds: 0)
    #expect(first != nil)
    async let others = (2..<6).map { process in Task { frames.seat(of: process, milliseconds: 300_000) != nil } }
    first = nil
    _ = first
    for task in await others { #expect(await task.value) }
  }
}
