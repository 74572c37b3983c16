"""Access rules for vectors: a pin and a grant, with values changed."""
import coffer_format as f

TEXT, DATA, INTEGER, TIME = f.TEXT, f.DATA, f.INTEGER, f.TIME


def changed(rule, values):
    """Values that are None are left out; bare ones keep the type that the name has."""
    for name, value in values.items():
        name = name.replace("_", "-")
        if value is None:
            del rule[name]
        else:
            rule[name] = value if isinstance(value, tuple) else (rule[name][0], value)
    return rule


def pin(identifier="com.example.editor", **values):
    values["identifier"] = identifier
    return changed({"rule": (TEXT, "pin"), "team-key": (DATA, bytes(range(32))), "identifier": (TEXT, ""),
                    "name": (TEXT, "Editor"), "version": (INTEGER, 3), "installed": (TIME, 5)}, values)


def grant(**values):
    return changed({"rule": (TEXT, "grant"), "application": (TEXT, "a.com.example.viewer"), "group": (TEXT, "shared"),
                    "rights": (INTEGER, 5), "confirm": (INTEGER, 0), "created": (TIME, 5)}, values)
