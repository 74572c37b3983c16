import Coffer
import CofferRequests
import CofferTesting
import SecretMemory
import Testing
import VaultCore

@testable import MessageBus
@testable import SecretService

/// The memory that several threads of `coffer-secrets` share, at moments at which they meet.
@Suite struct SecretServiceStateTests {
  private static func catalog(_ label: String) -> ServedCatalog {
    var catalog = ServedCatalog()
    catalog.collections[0].label = label
    catalog.isComplete = true
    return catalog
  }

  /// Another thread has changed a collection while one has read them: what that one has read is not kept.
  @Test func collectionsThatChangeWhileTheyAreReadAreReadAgain() {
    let state = ServiceState()
    let first = state.catalog {
      state.forgetCatalog()
      return Self.catalog("old")
    }
    #expect(first.collections[0].label == "old")
    #expect(state.catalog { Self.catalog("new") }.collections[0].label == "new")
    #expect(state.catalog { Self.catalog("newer") }.collections[0].label == "new")
  }

  /// Clients show the texts of errors to people.
  @Test(arguments: KeychainError.Code.Kind.allCases) func anErrorIsASentence(kind: KeychainError.Code.Kind) {
    let text = BusError(KeychainError(KeychainError.Code(kind))).text
    #expect(text.first?.isUppercase ?? false && text.contains(" ") && !text.contains(kind.rawValue + ":"), "\(text)")
  }

  /// An item of the collection `session` that is removed while it is changed does not come back.
  @Test func anItemThatIsRemovedWhileItIsChangedIsGone() throws {
    let items = TemporaryItems()
    let new = StoredItem.item(ServedContent(label: "L", attributes: ["a": "b"]), contentType: "text/plain")
    let item = try items.add(new, Secret(testing: "x"), in: CollectionGroup.group(ServedCollection.sessionName))
    #expect(throws: BusError.self) { try items.change(item, nil) { _ in try items.remove(item) } }
    #expect(items.items(with: [:]).isEmpty)
  }
}
