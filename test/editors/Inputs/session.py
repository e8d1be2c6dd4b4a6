# SPDX-License-Identifier: Apache-2.0
"""usage: session.py SOURCE_ROOT PAGE FOLDER

Types the blocks `keys` of a page into Neovim, which has the page's `init.lua`, and compares what
it shows with the block `screen` after each; keys after keys answer a question. Blocks with
`file=NAME` are files in FOLDER; it opens job.fore.
"""

import os
import pathlib
import socket
import subprocess
import sys
import time

from snippets import FENCE, Snippet

SECONDS = 60
# A request `nvim_get_mode` in MessagePack, and a part of its answer.
GET_MODE, IS_BLOCKING = b"\x94\x00\x00\xadnvim_get_mode\x90", b"\xa8blocking\xc3"


def wait(holds):
    """Waits until something holds, or time is up; whether it does."""
    end = time.monotonic() + SECONDS
    while not (does := holds()) and time.monotonic() < end:
        time.sleep(0.05)
    return does


class Neovim:
    """An editor without a terminal that listens at a socket."""

    def __init__(self, root, folder):
        self.folder = folder
        runtime = root / "tools/editors/vim"
        self.process = subprocess.Popen(
            ["nvim", "--headless", "--listen", "socket", "-n", "-u", "init.lua",
             "--cmd", f"set runtimepath^={runtime}", "--cmd", "set shada= shortmess+=I",
             "-c", "set columns=100 lines=14 laststatus=0 noshowcmd", "job.fore"], cwd=folder,
            stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            env={**os.environ, "HOME": str(folder)})

    def remote(self, *arguments):
        # Values are on standard error in old versions.
        done = subprocess.run(["nvim", "--server", "socket", *arguments], cwd=self.folder,
                              capture_output=True, text=True, check=False, timeout=SECONDS)
        return done.stdout + done.stderr

    def type(self, keys):
        self.remote("--remote-send", keys)

    def screen(self):
        path = pathlib.Path(__file__).with_name("screen.lua")
        return self.remote("--remote-expr", f"luaeval(\"dofile('{path}')\")").rstrip("\n")

    def asks(self):
        """Whether it waits for an answer; until then it has no other answers."""
        with socket.socket(socket.AF_UNIX) as client:
            client.connect(os.path.relpath(self.folder / "socket"))
            client.sendall(GET_MODE)
            return IS_BLOCKING in client.recv(1024)

    def end(self):
        self.process.terminate()
        self.process.wait(timeout=SECONDS)


def main():
    root, page, folder = (pathlib.Path(each).absolute() for each in sys.argv[1:4])
    text = page.read_text(encoding="utf-8")
    blocks = [Snippet(page.name, text, match) for match in FENCE.finditer(text)]
    for block in blocks:
        if block.mark("file"):
            (folder / block.mark("file")).write_text(block.body, encoding="utf-8")
    editor = Neovim(root, folder)
    screens = 0
    last = None
    try:
        wait((folder / "socket").exists)
        for block in blocks:
            if block.language == "keys":
                if last == "keys" and not wait(editor.asks):
                    sys.exit(f"{block.place}: Neovim does not ask")
                editor.type(block.body.replace("\n", ""))
            elif block.language == "screen":
                expected = block.body.rstrip("\n")
                screens += 1
                if not wait(lambda text=expected: editor.screen() == text):
                    sys.exit(f"{block.place}: Neovim shows\n{editor.screen()}\ninstead of\n{expected}")
            last = block.language
    finally:
        editor.end()
    print(f"{screens} screens")


main()
