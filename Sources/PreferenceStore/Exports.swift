@_exported public import Preferences
