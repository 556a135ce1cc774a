"""A connection that can be cut: a forwarder on loopback between a client and its broker."""

from __future__ import annotations

import contextlib
import socket
import struct
import threading
from collections.abc import Iterator
from typing import Final

from tools.brokers import HOST

ABORT: Final = struct.pack("ii", 1, 0)
"""Close at once, without sending what is buffered, as the death of a process or of a network does."""


class Proxy:
    """Forwards to one port."""

    def __init__(self, target: int) -> None:
        self._target = target
        self._pairs: list[tuple[socket.socket, socket.socket]] = []
        self._lock = threading.Lock()
        self._listener = socket.create_server((HOST, 0))
        self.port: int = self._listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def cut(self) -> None:
        """Cut every connection. New ones are forwarded."""
        with self._lock:
            pairs, self._pairs = self._pairs, []
        for pair in pairs:
            for end in pair:
                with contextlib.suppress(OSError):
                    end.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, ABORT)
                    # Whoever reads from it wakes up, and the close takes effect.
                    end.shutdown(socket.SHUT_RD)
                end.close()

    def close(self) -> None:
        """Forward nothing any more."""
        self._listener.close()
        self.cut()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            with contextlib.suppress(OSError):
                pair = (client, socket.create_connection((HOST, self._target)))
                with self._lock:
                    self._pairs.append(pair)
                for one, other in (pair, pair[::-1]):
                    one.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                    threading.Thread(target=_forward, args=(one, other), daemon=True).start()


def _forward(source: socket.socket, sink: socket.socket) -> None:
    with contextlib.suppress(OSError):
        while data := source.recv(65_536):
            sink.sendall(data)
    with contextlib.suppress(OSError):
        sink.shutdown(socket.SHUT_WR)


@contextlib.contextmanager
def proxied(port: int) -> Iterator[Proxy]:
    """A forwarder for as long as it is needed."""
    proxy = Proxy(port)
    try:
        yield proxy
    finally:
        proxy.close()
