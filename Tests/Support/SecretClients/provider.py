# A program that serves the Secret Service with a few items, and does what the arguments say: MEMBER=garbage, MEMBER=silent, MEMBER=gone, or
# MEMBER=gone:N at the Nth call. locked=yes, locked=no and locked=gone: its collections are locked, and so a person answers its prompt.
# entries=yes, entries=no: as KeePassXC, with an item that is locked by itself until a person allows it, or with a person who does not; each new item
# has a prompt, and all items get the attributes of an entry.
# items=N: so many items, with the content of the file secret=FILE as their secrets. It writes the calls of changes to the file `changes`, prints "ready", and ends with its standard input.
import sys, threading
import dbus, dbus.lowlevel, os
from dbus.mainloop.glib import DBusGMainLoop
from gi.repository import GLib

DBusGMainLoop(set_as_default=True)
ROOT, DOMAIN = "/org/freedesktop/secrets", "org.freedesktop.Secret."
LOGIN, OTHER, SESSION = ROOT + "/collection/first", ROOT + "/collection/second", ROOT + "/session/1"
options = dict(word.split("=", 1) for word in sys.argv[1:])
secret = open(options["secret"], "rb").read() if "secret" in options else None
counts = {}
unlocked = "locked" not in options
allowed, pending = "entries" not in options, None
connection = dbus.SessionBus(private=True)
names = "labelled large name silent-type refused".split() + ["n%d" % number for number in range(int(options.get("items", 0)))]


def item(name):
    attributes = {"large": {"a": "x" * 70000}, "name": {"a\n": "b"}}.get(name, {"name": name, "xdg:schema": "org.example"})
    if "entries" in options:
        attributes = dict(attributes, Title=name, UserName="", URL="", Notes="", Uuid="0", Path="/" + name)
    return {"Label": dbus.String("é " + name), "Locked": dbus.Boolean(False), "Modified": dbus.UInt64(names.index(name)),
            "Attributes": dbus.Dictionary(attributes, signature="ss")}


def properties(path):
    if path == ROOT:
        return {"Collections": dbus.Array([LOGIN, OTHER], signature="o")}
    if path in (LOGIN, OTHER):
        items = [LOGIN + "/" + name.replace("-", "_") for name in names] if path == LOGIN else []
        return {"Label": dbus.String("First" if path == LOGIN else "Second"), "Locked": dbus.Boolean(not unlocked),
                "Items": dbus.Array(items, signature="o")}
    return item(path.split("/")[-1].replace("_", "-"))


def complete(path, result):
    signal = dbus.lowlevel.SignalMessage(path, DOMAIN + "Prompt", "Completed")
    signal.append(not result, result or dbus.ObjectPath("/"), signature="bv")
    connection.send_message(signal)


def answer(message):
    global unlocked, allowed, pending
    path, member, arguments = message.get_path(), message.get_member(), message.get_args_list()
    name = path.split("/")[-1]
    if member == "OpenSession":
        if arguments[0] != "plain":
            raise dbus.DBusException("no", name="org.freedesktop.DBus.Error.NotSupported")
        return "vo", [dbus.String("", variant_level=1), dbus.ObjectPath(SESSION)]
    if member == "Get":
        if arguments[0] == "coffer.SecretService":
            raise dbus.DBusException("no", name="org.freedesktop.DBus.Error.UnknownInterface")
        return "v", [properties(path)[arguments[1]]]
    if member == "GetAll":
        return "a{sv}", [dbus.Dictionary(properties(path), signature="sv")]
    if member == "ReadAlias":
        return "o", [dbus.ObjectPath(OTHER if arguments[0] == "default" else LOGIN if arguments[0] == "login" else "/")]
    if member == "GetSecret":
        if not allowed:
            raise dbus.DBusException("", name=DOMAIN + "Error.IsLocked")
        if name == "refused":
            raise dbus.DBusException("not for you", name="org.freedesktop.DBus.Error.AccessDenied")
        kind = "application/x-" + "y" * (70000 if name == "silent_type" else 1)
        return "(oayays)", [dbus.Struct([dbus.ObjectPath(SESSION), dbus.ByteArray(b""), dbus.ByteArray(secret or name.encode()), kind], signature="oayays")]
    if member == "Unlock":
        return "aoo", [dbus.Array([], signature="o"), dbus.ObjectPath(ROOT + "/prompt/1")]
    if member == "Prompt" and "entries" in options:
        if pending:
            names.append(pending)
            print("CreateItem", pending, file=open("changes", "a"))
            complete(path, dbus.ObjectPath(LOGIN + "/" + pending))
        else:
            allowed = options["entries"] == "yes"
            complete(path, dbus.Array([LOGIN], signature="o", variant_level=1) if allowed else None)
        pending = None
        return "", []
    if member == "Prompt":
        if options["locked"] == "gone":
            os._exit(0)
        unlocked = options["locked"] == "yes"
        signal = dbus.lowlevel.SignalMessage(path, DOMAIN + "Prompt", "Completed")
        signal.append(not unlocked, dbus.Array([LOGIN, OTHER], signature="o", variant_level=1), signature="bv")
        connection.send_message(signal)
        return "", []
    if member == "CreateCollection":
        return "oo", [dbus.ObjectPath("/"), dbus.ObjectPath(ROOT + "/prompt/1")]
    if member == "Dismiss":
        print("dismissed", file=open("changes", "a"))
        return "", []
    if member == "CreateItem" and "entries" in options:
        pending = str(dict(arguments[0])[DOMAIN + "Item.Label"])
        return "oo", [dbus.ObjectPath("/"), dbus.ObjectPath(ROOT + "/prompt/1")]
    if member == "CreateItem":
        print(member, dict(arguments[0])[DOMAIN + "Item.Label"], file=open("changes", "a"))
        return "oo", [dbus.ObjectPath(LOGIN + "/labelled"), dbus.ObjectPath("/")]
    raise dbus.DBusException("no", name="org.freedesktop.DBus.Error.UnknownMethod")


def received(connection, message):
    member = message.get_member()
    if not isinstance(message, dbus.lowlevel.MethodCallMessage) or not (message.get_path() or "").startswith(ROOT):
        return dbus.lowlevel.HANDLER_RESULT_NOT_YET_HANDLED
    counts[member] = counts.get(member, 0) + 1
    action, _, number = options.get(member, "").partition(":")
    if action == "gone" and counts[member] >= int(number or 1):
        os._exit(0)
    if action == "silent" and counts[member] >= int(number or 1):
        print("asked", file=open("asked", "a"))
        return dbus.lowlevel.HANDLER_RESULT_HANDLED
    try:
        signature, values = ("s", ["garbage"]) if action == "garbage" else answer(message)
        reply = dbus.lowlevel.MethodReturnMessage(message)
        if signature:
            reply.append(*values, signature=signature)
    except dbus.DBusException as error:
        reply = dbus.lowlevel.ErrorMessage(message, error.get_dbus_name(), str(error))
    connection.send_message(reply)
    return dbus.lowlevel.HANDLER_RESULT_HANDLED


connection.add_message_filter(received)
assert connection.request_name("org.freedesktop.secrets") == 1
loop = GLib.MainLoop()
threading.Thread(target=lambda: (sys.stdin.read(), os._exit(0)), daemon=True).start()
print("ready", flush=True)
loop.run()
