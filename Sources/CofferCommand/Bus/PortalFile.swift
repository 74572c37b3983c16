import CofferConsole
import CofferFiles
import Glibc

/// The file by which xdg-desktop-portal finds the program that keeps the keys of sandboxed apps. It names the Secret Service, as the file
/// of gnome-keyring does: either is sufficient. Debian's xdg-desktop-portal 1.16 reads one directory alone.
enum PortalFile {
  private static let portal = "/usr/share/dbus-1/services/org.freedesktop.portal.Desktop.service"
  private static let names = ["coffer.portal", "gnome-keyring.portal"]

  /// A command that lets the portal find this program. nil if it does, if there is no portal, or if this program was not installed.
  static var advice: String? {
    let directory = Environment["XDG_DESKTOP_PORTAL_DIR"] ?? "/usr/share/xdg-desktop-portal/portals"
    guard let programs = ProgramPlaces.ownDirectory, isThere(portal),
      !names.contains(where: { isThere(Path.join(directory, $0)) }),
      let own = unsafe realpath(Path.join(programs, "../share/xdg-desktop-portal/portals/\(names[0])"), nil)
    else { return nil }
    defer { unsafe free(own) }
    return """
      note: xdg-desktop-portal does not find Coffer, so that apps in a sandbox get no key; before version 1.18 it reads one directory:
        sudo ln -s \(unsafe String(cString: own).escapingControls()) \(directory.escapingControls())

      """
  }

  private static func isThere(_ path: String) -> Bool { unsafe access(path, F_OK) == 0 }
}
