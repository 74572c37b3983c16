#!/usr/bin/python3
"""A registry of containers with one image and basic authentication (RFC 7617), over TLS on a free port of the loopback.

registry.py CERTIFICATE USERS LOG

CERTIFICATE has the private key as well. USERS is a file of lines USER:PASSWORD, read for each request. Writes the port to LOG, and then the user of each request that was
allowed, or - if it was refused. Ends at the end of standard input.
"""
import base64
import hashlib
import http.server
import json
import ssl
import sys
import threading

CERTIFICATE, USERS, LOG = sys.argv[1:]
DIGEST = "sha256:" + hashlib.sha256(b"{}").hexdigest()
TYPE = "application/vnd.docker.distribution.manifest.v2+json"
MANIFEST = json.dumps({
    "schemaVersion": 2, "mediaType": TYPE,
    "config": {"mediaType": "application/vnd.docker.container.image.v1+json", "size": 2, "digest": DIGEST}, "layers": [],
}).encode()


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
            return self.answer(401, b"{}", {"WWW-Authenticate": 'Basic realm="registry"'})
        log(given.partition(":")[0])
        if "/manifests/" in self.path:
            digest = "sha256:" + hashlib.sha256(MANIFEST).hexdigest()
            return self.answer(200, MANIFEST, {"Content-Type": TYPE, "Docker-Content-Digest": digest})
        self.answer(200, b"{}", {"Content-Type": "application/json"})

    do_HEAD = do_GET

    def answer(self, status, body, fields):
        self.send_response(status)
        for name, value in fields.items():
            self.send_header(name, value)
        self.send_header("Docker-Distribution-Api-Version", "registry/2.0")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def log_message(self, *arguments):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain(CERTIFICATE)
server.socket = context.wrap_socket(server.socket, server_side=True)
threading.Thread(target=server.serve_forever, daemon=True).start()
log(str(server.server_port))
sys.stdin.read()
server.shutdown()
