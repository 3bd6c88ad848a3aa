"""Connects to a board and hands the connection to ssh: a ProxyCommand with ProxyUseFdpass.

    dial.py HOST PORT [LINK]

It runs in the network that holds the host's end of the board's cable, so that this machine's own
network stays as it is; errors read as ssh's own. With a file LINK, which link.py describes, a
relay stands between the two that makes the link slow, or forgets it.
"""

import os
import socket
import sys
from pathlib import Path


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
    if len(sys.argv) > 3:
        connection = start_relay(connection, Path(sys.argv[3]))
    with socket.socket(fileno=1) as to_ssh:
        socket.send_fds(to_ssh, [b"\0"], [connection.fileno()])
    return 0


def start_relay(connection: socket.socket, file: Path) -> socket.socket:
    """Leaves a process that relays; the end of it that ssh gets."""
    sys.path.insert(0, str(Path(__file__).resolve().parent))
    from link import Relay  # Python is told not to look there by itself.

    ours, of_ssh = socket.socketpair()
    if os.fork() != 0:
        return of_ssh
    os.setsid()
    of_ssh.close()
    nothing = os.open(os.devnull, os.O_RDWR)
    for one in (0, 1, 2):
        os.dup2(nothing, one)
    Relay(ours, connection, file).run()
    os._exit(0)


if __name__ == "__main__":
    sys.exit(main())
