import CLinux
internal import CofferPreferences
import Glibc

extension DefaultsStore {
  /// Findings about the directory and its file names, without reading the files.
  func fileFindings() throws -> [DoctorFinding] {
    let directory = try directory()
    let files: [String]
    do {
      files = try DomainListing.files(in: directory).sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    } catch {
      return [
        DoctorFinding(
          kind: "unreadable", subject: directory.path, detail: "cannot be listed",
          hint: "ls -ld '\(directory.path)'; it must be a directory of yours")
      ]
    }
    var findings = DoctorFinding.permissionFindings(directory.path, isDirectory: true)
    for file in files {
      let path = "\(directory.path)/\(file)"
      if file.contains(".corrupt-") {
        findings.append(
          DoctorFinding(
            kind: "quarantined", subject: path, detail: "is a damaged file that was put aside",
            hint: "look whether something in it is missed, then remove it"))
      } else if file.hasPrefix(".coffer-"), file.hasSuffix(".new") {
        findings.append(
          DoctorFinding(
            kind: "left-over", subject: path, detail: "was left behind by a write that was cut off",
            hint: "remove it: rm '\(path)'"))
      } else if [".plist", ".journal", ".lock"].contains(where: { file.hasSuffix($0) }) {
        findings += DoctorFinding.permissionFindings(path, isDirectory: false)
      }
    }
    return findings
  }
}

extension DoctorFinding {
  /// Whose it is, what it is, and who may read or write it.
  static func permissionFindings(_ path: String, isDirectory: Bool) -> [DoctorFinding] {
    var status = stat()
    guard unsafe lstat(path, &status) == 0 else { return [] }
    func finding(_ kind: String, _ detail: String, _ hint: String) -> [DoctorFinding] {
      [DoctorFinding(kind: kind, subject: path, detail: detail, hint: hint)]
    }
    switch status.st_mode & S_IFMT {
    case S_IFLNK where path.hasSuffix(".plist"):
      // One that is not followed is found where the domain is read.
      return []
    case S_IFLNK where !isDirectory:
      return finding("symbolic-link", "is a symbolic link, which is never followed", "put the file itself there")
    case S_IFREG where !isDirectory, S_IFDIR where isDirectory: break
    case S_IFLNK: return []
    default: return finding("not-a-file", isDirectory ? "is not a directory" : "is not a file", "move it away")
    }
    if status.st_uid != geteuid() {
      return finding("foreign-owner", "belongs to user \(status.st_uid)", "chown \(geteuid()) '\(path)', as root")
    }
    let (others, mode) = isDirectory ? (0o022, "700") : (0o077, "600")
    guard status.st_mode & mode_t(others) != 0 else { return [] }
    return finding("permissions", "others may \(isDirectory ? "change" : "read or write") it", "chmod \(mode) '\(path)'")
  }
}
