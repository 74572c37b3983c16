import Foundation
import Testing

/// Comments, documents and messages are written as subject, verb, object: a sentence names the thing that acts, and a condition begins with "if".
@Suite struct WordsTests {
  /// The sentences that are left, by folder. A count may only become lower, and is lowered here with the sentence.
  private static let left: [String: Int] = [:]

  private static let sources = ["Vault", "Sources", "Tests", "Examples", "Fuzz", "Benchmarks"].flatMap { SourceFile.all(in: $0) }

  private static var documents: [SourceFile] {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: SourceFile.root.path)) ?? []
    let root = names.filter { $0.hasSuffix(".md") }.compactMap { name in
      (try? String(contentsOf: SourceFile.root.appending(path: name), encoding: .utf8)).map {
        SourceFile(path: name, lines: $0.components(separatedBy: "\n"))
      }
    }
    let others = ["Vault", "Sources", "Tests", "docs"].flatMap { SourceFile.all(in: $0, suffix: ".md") }
    return root + others + ["1", "5"].flatMap { SourceFile.all(in: "docs/man", suffix: ".\($0)") }
  }

  /// `Sources/NAME`, `docs/man`, `Vault`, `README.md`.
  private static func folder(of path: String) -> String {
    let parts = path.split(separator: "/").map(String.init)
    let isSplit = ["Sources", "Tests", "docs"].contains(parts[0]) && parts.count > 2
    return parts.prefix(isSplit ? 2 : 1).joined(separator: "/")
  }

  @Test func sentencesHaveASubject() {
    let inComments = Self.sources.flatMap { file in Words.inComments(of: file).map { (Self.folder(of: file.path), $0) } }
    let inDocuments = Self.documents.flatMap { file in Words.inDocument(file).map { (Self.folder(of: file.path), $0) } }
    let printing = Self.sources.filter { !["Tests/", "Fuzz/", "Benchmarks/"].contains(where: $0.path.hasPrefix) }
    let inLiterals = printing.flatMap { file in Words.inLiterals(of: file).map { (Self.folder(of: file.path), $0) } }
    let findings = Dictionary(grouping: inComments + inDocuments + inLiterals) { $0.0 }.mapValues { $0.map(\.1) }
    print(
      "words: \(inComments.count) sentences without a subject in comments, \(inDocuments.count) in documents, "
        + "\(inLiterals.count) in messages")
    for folder in Set(findings.keys).union(Self.left.keys).sorted() {
      let (found, limit) = (findings[folder] ?? [], Self.left[folder] ?? 0)
      #expect(
        found.count <= limit, "\(folder): \(limit) are left, and there are \(found.count):\n\(found.joined(separator: "\n"))")
      #expect(found.count >= limit, "\(folder): \(limit) are left, lower it to \(found.count)")
    }
    guard findings.mapValues(\.count) != Self.left else { return }
    print(findings.sorted { $0.key < $1.key }.map { "    \"\($0.key)\": \($0.value.count)," }.joined(separator: "\n"))
  }

  @Test(arguments: [
    "/// Nil where there is none.", "// Whoever comes next finishes it.", "  /// Of the file.",
    "/// - Parameter key: Who has it.",
    "let number = 1  // So that nothing is lost.", "/// The list. What is in it stays.",
  ]) func aHiddenSubjectIsFound(line: String) {
    #expect(!Words.inComments(of: SourceFile(path: "", lines: [line])).isEmpty)
  }

  @Test(arguments: [
    "/// Returns nil if there is none.", "/// Whether the file exists.", "let text = \"// Of the file.\"",
    "/// - Returns: The number of files.",
  ]) func aPlainSentenceIsNotFound(line: String) {
    #expect(Words.inComments(of: SourceFile(path: "", lines: [line])).isEmpty)
  }

  @Test(arguments: [
    "\"nobody has answered\"", "\"\\(path): is no vault\"", "\"What a vault holds.\"", "\"all where none is named\"",
    "\"done; what is left stays\"", "\"the agent knows it\"", "help(\"x\", \"whoever has the file\")",
  ]) func aMessageWithoutASubjectIsFound(line: String) {
    #expect(Words.inLiterals(of: SourceFile(path: "", lines: [line])).count == 1)
  }

  @Test(arguments: [
    "\"there is no such item\"", "\"is no longer there\"", "\"move: where to?\"", "\"names the place where it stays\"",
    "// \"is no vault\"",
    "\"compare it with what you have\"", "\"What now?\"", "let nobody = \"\\(nobody)\"",
  ]) func aPlainMessageIsNotFound(line: String) {
    #expect(Words.inLiterals(of: SourceFile(path: "", lines: [line])).isEmpty)
  }

  @Test func questionsHeadingsAndCodeOfDocumentsAreLeftOut() {
    let lines = [
      "# What it is", "What is it? A vault.", "```", "What is here.", "```", "- What is here stays.",
      "It stays. Who reads it, decides.",
    ]
    #expect(Words.inDocument(SourceFile(path: "", lines: lines)).count == 2)
  }
}
