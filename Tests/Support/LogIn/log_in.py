"""The process of a log-in, by libpam.

    log_in.py SERVICE USER PASSWORD STEP...

Steps, in their order; each call of libpam prints its name and result, 0 for success:
    authenticate, open, close, change    the calls
    user=NAME       another user from here on
    variable=X=Y    a variable of the session
    fork            a child takes the next steps, and this process waits for it
    ignored         SIGCHLD and SIGPIPE are ignored, and all signals blocked
    handled         a handler of SIGCHLD waits for every child
    bare            the standard descriptors are closed
    children        prints whether a child is left
    signals         prints whether SIGCHLD is as `ignored` or `handled` has set it, and how often that handler was called
"""

import ctypes
import os
import signal
import sys

library = ctypes.CDLL("libpam.so.0")
c = ctypes.CDLL(None, use_errno=True)
c.strdup.restype = ctypes.c_void_p
c.calloc.restype = ctypes.c_void_p
# A variadic function and pointers: without types, ctypes would cut them.
for name in ["pam_authenticate", "pam_open_session", "pam_close_session", "pam_chauthtok"]:
    getattr(library, name).argtypes = [ctypes.c_void_p, ctypes.c_int]
library.pam_set_item.argtypes = [ctypes.c_void_p, ctypes.c_int, ctypes.c_char_p]
library.pam_putenv.argtypes = [ctypes.c_void_p, ctypes.c_char_p]


class Response(ctypes.Structure):
    _fields_ = [("text", ctypes.c_void_p), ("code", ctypes.c_int)]


CONVERSE = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int, ctypes.c_void_p, ctypes.POINTER(ctypes.c_void_p), ctypes.c_void_p)


class Conversation(ctypes.Structure):
    _fields_ = [("converse", CONVERSE), ("data", ctypes.c_void_p)]


service, user, password = sys.argv[1:4]
out = os.fdopen(os.dup(1), "w", buffering=1)
caught = []


def answer(count, _messages, responses, _data):
    memory = c.calloc(count, ctypes.sizeof(Response))
    array = ctypes.cast(memory, ctypes.POINTER(Response))
    for index in range(count):
        array[index].text = c.strdup(password.encode())
    responses[0] = memory
    return 0


conversation = Conversation(CONVERSE(answer), None)
handle = ctypes.c_void_p()
assert library.pam_start(service.encode(), user.encode(), ctypes.byref(conversation), ctypes.byref(handle)) == 0
calls = {"authenticate": library.pam_authenticate, "open": library.pam_open_session,
         "close": library.pam_close_session, "change": library.pam_chauthtok}


def wait_for_all(*_):
    caught.append(1)
    try:
        while os.waitpid(-1, os.WNOHANG)[0] != 0:
            pass
    except ChildProcessError:
        return


for step in sys.argv[4:]:
    word, _, value = step.partition("=")
    if word in calls:
        print(word, calls[word](handle, 0), file=out)
    elif word == "user":
        assert library.pam_set_item(handle, 2, value.encode()) == 0
    elif word == "variable":
        assert library.pam_putenv(handle, value.encode()) == 0
    elif word == "fork":
        child = os.fork()
        if child != 0:
            os.waitpid(child, 0)
            sys.exit()
    elif word == "ignored":
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)
        signal.signal(signal.SIGPIPE, signal.SIG_IGN)
        signal.pthread_sigmask(signal.SIG_SETMASK, set(signal.Signals))
    elif word == "handled":
        signal.signal(signal.SIGCHLD, wait_for_all)
    elif word == "bare":
        for number in range(3):
            os.close(number)
    elif word == "children":
        try:
            os.waitpid(-1, os.WNOHANG)
            print("a child is left", file=out)
        except ChildProcessError:
            print("no child is left", file=out)
    elif word == "signals":
        lines = dict(line.split(":\t", 1) for line in open("/proc/self/status").read().splitlines() if ":\t" in line)
        bit = 1 << signal.SIGCHLD - 1
        print("ignored" if int(lines["SigIgn"], 16) & bit else "handled" if int(lines["SigCgt"], 16) & bit else "default",
              "blocked" if int(lines["SigBlk"], 16) & bit else "open", len(caught), file=out)
    else:
        raise SystemExit(f"unknown step {step}")
