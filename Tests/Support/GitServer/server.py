#!/usr/bin/python3
"""Serves the repositories of a directory over HTTP, with basic authentication (RFC 7617), on a free port of the loopback.

server.py DIRECTORY USERS LOG

USERS is a file of lines USER:PASSWORD, read for each request. Writes the port to LOG, and then the user of each request that was
allowed, or - if it was refused. Ends at the end of standard input.
"""
import base64
import http.server
import os
import subprocess
import sys
import threading

DIRECTORY, USERS, LOG = sys.argv[1:]


def log(line):
    with open(LOG, "a", encoding="utf-8") as file:
        file.write(line + "\n")


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        with open(USERS, encoding="utf-8") as file:
            users = file.read().splitlines()
        kind, _, value = self.headers.get("Authorization", "").partition(" ")
        given = base64.b64decode(value).decode() if kind == "Basic" else ""
        if given not in users:
            log("-")
            self.send_response(401)
            self.send_header("WWW-Authenticate", 'Basic realm="git"')
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        user = given.partition(":")[0]
        log(user)
        path, _, query = self.path.partition("?")
        variables = {
            "PATH": os.environ["PATH"], "GIT_PROJECT_ROOT": DIRECTORY, "GIT_HTTP_EXPORT_ALL": "1", "PATH_INFO": path,
            "QUERY_STRING": query, "REQUEST_METHOD": self.command, "REMOTE_USER": user, "REMOTE_ADDR": "127.0.0.1",
            "CONTENT_TYPE": self.headers.get("Content-Type", ""), "HTTP_CONTENT_ENCODING": self.headers.get("Content-Encoding", ""),
        }
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        answer = subprocess.run(["git", "http-backend"], input=body, env=variables, stdout=subprocess.PIPE, check=True).stdout
        head, _, content = answer.partition(b"\r\n\r\n")
        fields = [line.decode().partition(": ") for line in head.split(b"\r\n")]
        status = next((value for name, _, value in fields if name == "Status"), "200 OK")
        self.send_response(int(status.split()[0]))
        for name, _, value in fields:
            if name != "Status":
                self.send_header(name, value)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    do_POST = do_GET

    def log_message(self, *arguments):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
threading.Thread(target=server.serve_forever, daemon=True).start()
log(str(server.server_port))
sys.stdin.read()
server.shutdown()
