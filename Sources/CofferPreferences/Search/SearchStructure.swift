internal import CofferPropertyLists

/// The places of a search list at one moment. Immutable.
@safe final class SearchStructure: Sendable {
  /// A class with a constant, so that its domain can be called without reference counting.
  private final class Reference: Sendable {
    let domain: any PreferenceDomain
    init(_ domain: any PreferenceDomain) { self.domain = domain }
  }

  /// Different after each change of the list.
  let version: UInt64
  let entries: [SearchEntry]
  // Not written after the initialiser.
  private nonisolated(unsafe) let references: UnsafeBufferPointer<Unmanaged<Reference>>

  init(version: UInt64, entries: [SearchEntry]) {
    self.version = version
    self.entries = entries
    let references = UnsafeMutableBufferPointer<Unmanaged<Reference>>.allocate(capacity: entries.count)
    for (place, entry) in entries.enumerated() {
      unsafe references.initializeElement(at: place, to: .passRetained(Reference(entry.domain)))
    }
    unsafe self.references = UnsafeBufferPointer(references)
  }

  deinit {
    for place in unsafe 0..<references.count { unsafe references[place].release() }
    unsafe references.deallocate()
  }

  /// The sum of the domains' stamps. Equal as long as no entry changes, because stamps only grow.
  @inline(__always)
  var stamp: UInt64 {
    var sum: UInt64 = 0
    for place in unsafe 0..<references.count {
      unsafe sum &+= references[place]._withUnsafeGuaranteedRef { $0.domain.stamp }
    }
    return sum
  }

  @inline(never)
  func search(_ key: String) -> PropertyListValue? {
    for entry in entries {
      if let value = entry.domain.value(forKey: key) { return value }
    }
    return nil
  }

  /// All keys, each with the value that a search finds.
  func values() -> PropertyListDictionary {
    var result = PropertyListDictionary()
    for entry in entries.reversed() { result.merge(entry.domain.values()) }
    return result
  }
}

extension PropertyListDictionary {
  /// Overwrites with all values of the other dictionary.
  mutating func merge(_ other: PropertyListDictionary) {
    if isEmpty {
      self = other
      return
    }
    for key in other.keys { self[key] = other[key] }
  }
}
