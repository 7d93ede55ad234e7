"""The program `code`: hands its arguments to the browser that holds VS Code's windows.

code-server's own command line has no `chat`. This one is started by the provider as any `code` is;
nothing of ours is imported.
"""

import json
import os
import socket
import sys


def main() -> int:
    with socket.socket(socket.AF_UNIX) as browser:
        browser.connect(os.environ["VSCODE_REAL_SOCKET"])
        browser.sendall(json.dumps(sys.argv[1:]).encode() + b"\n")
        with browser.makefile() as lines:
            reply = json.loads(lines.readline())
    sys.stdout.write(reply["stdout"])
    sys.stderr.write(reply["stderr"])
    return int(reply["exit_code"])


if __name__ == "__main__":
    sys.exit(main())
