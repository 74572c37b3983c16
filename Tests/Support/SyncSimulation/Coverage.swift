/// Situations that a schedule may meet.
package enum Situation: String, CaseIterable {
  case accepted, crash, forgery, removal, checkpoint, conflict, voidEntry, refused, settled, deletedEntry, deletedObject
}

/// How often schedules met each situation.
package struct Coverage {
  private var counts: [Situation: Int] = [:]

  package init() {}

  package subscript(situation: Situation) -> Int {
    get { counts[situation] ?? 0 }
    set { counts[situation] = newValue }
  }

  package static func += (left: inout Coverage, right: Coverage) { left.counts.merge(right.counts, uniquingKeysWith: +) }
}
