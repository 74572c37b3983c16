package import CofferConsole
package import ForeignFormats

extension ForeignError: Explained {
  package var explanation: Explanation {
    switch code {
    case .zeroByte: .init(.usage, "holds a zero byte, as no such file does")
    case .utf16: .init(.usage, "is UTF-16, and not UTF-8", "iconv -f UTF-16 -t UTF-8 converts it")
    case .notUTF8: .init(.usage, "is not UTF-8", "iconv -f ISO-8859-1 -t UTF-8 converts a text")
    case .fileTooLarge: .init(.usage, "more than 64 MiB")
    case .fieldTooLarge: .init(.usage, "a value of more than 1 MiB, which no item can hold")
    case .cutOff: .init(.usage, "ends too early: the file is not complete")
    case .base64Malformed: .init(.usage, "a value is not base64, or has not the parts that it needs")
    case .notJSON: .init(.usage, "is not JSON")
    case .tooDeep: .init(.usage, "more than 32 levels")
    case .otherShape: .init(.usage, "is JSON or XML, but not of this format")
    case .notationUnknown: .init(.usage, "is written in a form of YAML or TOML that is not read here")
    case .memberTwice: .init(.usage, "a member stands twice, and programs take different ones")
    case .halfCharacter: .init(.usage, "an escape \\uD800 to \\uDFFF stands alone, and is half of a character")
    case .notXML: .init(.usage, "is not XML, or has a document type, which no export has")
    case .assignmentMissing: .init(.usage, "is not a comment and has no =")
    case .sectionMissing: .init(.usage, "a setting stands before the first [section]")
    case .sectionOpen: .init(.usage, "a [ is not closed")
    case .credentialMalformed: .init(.usage, "is not a URL with a user and a password", "PROTOCOL://USER:PASSWORD@HOST")
    case .percentMalformed: .init(.usage, "a % is not followed by two hexadecimal digits")
    case .tokenUnknown: .init(.usage, "a word is not a keyword of this file", "a value with blanks stands between double quotes")
    case .quoteOpen: .init(.usage, "a quote is not closed")
    case .exportEncrypted:
      .init(.usage, "the export is encrypted", "export it without encryption, by a pipe: coffer import FORMAT -")
    case .accountEncrypted:
      .init(
        .usage, "the export is encrypted for an account, and only Bitwarden can read it",
        "export it again, with a password of its own or by a pipe: bw export --format json --raw | coffer import bitwarden -")
    case .encryptionUnknown: .init(.usage, "is encrypted in a way that is not known here")
    case .passwordWrong: .init(.wrongPassphrase, "wrong passphrase of the export")
    case .costTooHigh: .init(.usage, "the key of the export takes work or memory that Bitwarden does not let one choose")
    case .noMemory: .init(.other, "too little memory for the key of the export")
    case .damaged: .init(.usage, "the encrypted data has been changed, and cannot be read")
    case .headerUnknown:
      .init(
        .usage, "the first line does not name the columns of this format",
        "coffer import csv --column NAME=secret says what a column is")
    case .columnCount: .init(.usage, "has another number of columns than the first line")
    case .columnMissing: .init(.usage, "lacks the column", "names are written as in the first line")
    case .textAfterQuote: .init(.usage, "text follows a closing quote")
    }
  }
}
