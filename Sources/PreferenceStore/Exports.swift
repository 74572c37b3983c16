@_exported public import CofferPreferences
