#if Combine
import PreferenceStoreCombine

// The names of SwiftUI that the articles' code needs: views that are drawn into lines of text.

protocol View {
  associatedtype Body
  @ViewBuilder var body: Body { get }
}

@resultBuilder
enum ViewBuilder {
  static func buildBlock(_ parts: Any...) -> [Any] { parts }
}

struct Text {
  let text: String
  init(_ text: String) { self.text = text }
}

struct Button {
  let title: String
  let action: () -> Void
  init(_ title: String, action: @escaping () -> Void) {
    self.title = title
    self.action = action
  }
}

struct TextField {
  let title: String
  @Binding var text: String
  init(_ title: String, text: Binding<String>) {
    self.title = title
    _text = text
  }
}

struct Toggle {
  let title: String
  @Binding var isOn: Bool
  init(_ title: String, isOn: Binding<Bool>) {
    self.title = title
    _isOn = isOn
  }
}

struct Stepper {
  let title: String
  @Binding var value: Int
  init(_ title: String, value: Binding<Int>) {
    self.title = title
    _value = value
  }
}

struct List {
  let parts: [Any]
  init(@ViewBuilder _ parts: () -> [Any]) { self.parts = parts() }
}

/// The controls of a view.
enum Controls {
  static func all(in view: some View) -> [Any] { flat(view.body) }

  private static func flat(_ part: Any) -> [Any] {
    if let parts = part as? [Any] { return parts.flatMap(flat) }
    if let list = part as? List { return list.parts.flatMap(flat) }
    return [part]
  }

  static func texts(in view: some View) -> [String] { all(in: view).compactMap { ($0 as? Text)?.text } }
  static func press(_ title: String, in view: some View) {
    all(in: view).lazy.compactMap { $0 as? Button }.first { $0.title == title }?.action()
  }
}
#endif
