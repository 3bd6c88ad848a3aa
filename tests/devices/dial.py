"""Connects to a board and hands the connection to ssh: a ProxyCommand with ProxyUseFdpass.

It runs in the network that holds the host's end of the board's cable, so that this machine's own
network stays as it is; errors read as ssh's own.
"""

import os
import socket
import sys


def main() -> int:
    """Dials HOST PORT; prints what ssh prints when that fails."""
    host, port = sys.argv[1], sys.argv[2]
    connection = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    connection.settimeout(10)
    try:
        connection.connect((host, int(port)))
    except OSError as error:
        text = os.strerror(error.errno) if error.errno else "Connection timed out"
        sys.stderr.write(f"ssh: connect to host {host} port {port}: {text}\n")
        return 255
    connection.setblocking(True)
    with socket.socket(fileno=1) as to_ssh:
        socket.send_fds(to_ssh, [b"\0"], [connection.fileno()])
    return 0


if __name__ == "__main__":
    sys.exit(main())
