# SPDX-License-Identifier: Apache-2.0
"""A server of `foretrace explore`, and requests to it."""

import http.client
import json
import re
import signal
import subprocess
import sys

ADDRESS = re.compile(r"exploring at http://127\.0\.0\.1:(\d+)/\?token=([0-9a-f]{64})\n")


class Server:
    """Runs until it is closed; with the arguments of the command line."""

    def __init__(self, *arguments, **options):
        self.process = subprocess.Popen(["foretrace", "explore", *map(str, arguments)],
                                        stdout=subprocess.PIPE, text=True, **options)
        line = self.process.stdout.readline()
        match = ADDRESS.fullmatch(line)
        if not match:
            sys.exit(f"no address: {line!r}")
        self.port, self.token = int(match.group(1)), match.group(2)
        self.url = f"http://127.0.0.1:{self.port}/?token={self.token}"
        self.connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)

    def request(self, method, path, body=None, **headers):
        """The code and the text of an answer; headers of None are left out."""
        headers = {"Authorization": f"Bearer {self.token}",
                   **{name.replace("_", "-"): value for name, value in headers.items()}}
        headers = {name: value for name, value in headers.items() if value is not None}
        try:
            self.connection.request(method, path, body, headers)
            answer = self.connection.getresponse()
        except (BrokenPipeError, ConnectionResetError, http.client.RemoteDisconnected):
            self.connection.close()  # it was idle for too long; browsers connect again, too
            self.connection.request(method, path, body, headers)
            answer = self.connection.getresponse()
        return answer.status, answer.read().decode()

    def ask(self, path, **members):
        """The answer to a POST, which must be an object."""
        code, text = self.request("POST", path, json.dumps(members))
        if code != 200:
            sys.exit(f"{path}: {code} {text}")
        return json.loads(text)

    def close(self, by=signal.SIGTERM):
        self.connection.close()
        self.process.send_signal(by)
        return self.process.wait(60)
