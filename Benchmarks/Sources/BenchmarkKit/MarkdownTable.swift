/// A table in the format of the README.
public struct MarkdownTable: CustomStringConvertible {
  private let head: [String]
  private var rows: [[String]] = []

  public init(_ head: [String]) { self.head = head }

  public mutating func append(_ row: [String]) { rows.append(row) }

  public var description: String {
    let all = [head] + rows
    let widths = head.indices.map { column in all.map { $0.indices.contains(column) ? $0[column].count : 0 }.max() ?? 0 }
    func line(_ cells: [String]) -> String {
      let padded = head.indices.map { column in
        let cell = cells.indices.contains(column) ? cells[column] : ""
        return cell + String(repeating: " ", count: widths[column] - cell.count)
      }
      return "| \(padded.joined(separator: " | ")) |"
    }
    let rule = "|\(widths.map { String(repeating: "-", count: $0 + 2) }.joined(separator: "|"))|"
    return ([line(head), rule] + rows.map(line)).joined(separator: "\n")
  }
}
