"""What logind says, on a bus of its own. Reads a word a line: sleep, wake, lock UID. Says what happens with the inhibitor."""
import os
import subprocess
import sys

import dbus
import dbus.mainloop.glib
import dbus.service
from gi.repository import GLib

dbus.mainloop.glib.DBusGMainLoop(set_as_default=True)
bus = dbus.bus.BusConnection(os.environ["DBUS_SYSTEM_BUS_ADDRESS"])
MANAGER = "org.freedesktop.login1.Manager"
SESSION = "org.freedesktop.login1.Session"


def say(*words):
    print(*words, flush=True)


class Manager(dbus.service.Object):
    @dbus.service.method(MANAGER, in_signature="ssss", out_signature="h")
    def Inhibit(self, what, who, why, mode):
        ours, theirs = os.pipe()
        GLib.io_add_watch(ours, GLib.IO_HUP, self.released)
        # Sent after this has returned, and then not ours any more.
        GLib.timeout_add(200, lambda: os.close(theirs))
        say("inhibited", what, mode)
        return dbus.types.UnixFd(theirs)

    def released(self, descriptor, _):
        os.close(descriptor)
        state = subprocess.run(["coffer", "agent", "status"], capture_output=True, text=True).stdout.strip()
        say("released while", state)
        return False

    @dbus.service.signal(MANAGER, signature="b")
    def PrepareForSleep(self, beginning):
        pass


class Session(dbus.service.Object):
    def __init__(self, path, user):
        super().__init__(bus, path)
        self.user = user

    @dbus.service.method("org.freedesktop.DBus.Properties", in_signature="ss", out_signature="v")
    def Get(self, interface, name):
        return dbus.Struct((dbus.UInt32(self.user), dbus.ObjectPath("/")), signature="uo", variant_level=1)

    @dbus.service.signal(SESSION, signature="")
    def Lock(self):
        pass


manager = Manager(bus, "/org/freedesktop/login1")
sessions = {}
name = dbus.service.BusName("org.freedesktop.login1", bus, do_not_queue=True)


def command(source, _):
    words = source.readline().split()
    if not words:
        loop.quit()
        return False
    if words[0] == "lock":
        user = int(words[1])
        if user not in sessions:
            sessions[user] = Session(f"/org/freedesktop/login1/session/c{user}", user)
        sessions[user].Lock()
    else:
        manager.PrepareForSleep(words[0] == "sleep")
    return True


GLib.io_add_watch(sys.stdin, GLib.IO_IN | GLib.IO_HUP, command)
say("ready")
loop = GLib.MainLoop()
loop.run()
