"""RabbitMQ, NATS, Redis and Mosquitto on loopback, for the tests of recording: `make brokers`, `make brokers-stop`.

They are Debian's packages, started here with ports and folders of their own. A broker that the machine runs anyway is
neither used nor touched.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

FOLDER: Final = Path(__file__).parents[1] / "build" / "brokers"
HOST: Final = "127.0.0.1"
PATIENCE: Final = 60
"""Seconds that a broker may take to start or to stop."""


@dataclass(frozen=True, slots=True)
class Broker:
    """One broker: `{folder}` and `{port}` in its command and settings are filled in."""

    name: str
    package: str
    port: int
    program: str
    arguments: tuple[str, ...] = ()
    settings: Mapping[str, str] = field(default_factory=dict)
    configuration: str = ""

    @property
    def folder(self) -> Path:
        """Where it keeps data, its log and its process number."""
        return FOLDER / self.name

    def answers(self) -> bool:
        """Somebody listens at its port."""
        return _answers(self.port)

    def installed(self) -> bool:
        """Its program is here."""
        return shutil.which(self.program, path=_PLACES) is not None

    def filled(self, text: str) -> str:
        """A setting with its folder and its port."""
        return text.format(folder=self.folder, port=self.port)


_PLACES: Final = os.pathsep.join([os.environ.get("PATH", ""), "/usr/sbin", "/usr/lib/rabbitmq/bin"])
_EPMD_PORT: Final = 34369

RABBITMQ: Final = Broker(
    "rabbitmq",
    "rabbitmq-server",
    35672,
    # Debian's own script in /usr/sbin runs it as another user, who cannot write here.
    "/usr/lib/rabbitmq/bin/rabbitmq-server",
    settings={
        "HOME": "{folder}",
        "RABBITMQ_NODENAME": "precedes@localhost",
        "RABBITMQ_NODE_IP_ADDRESS": HOST,
        "RABBITMQ_NODE_PORT": "{port}",
        "RABBITMQ_DIST_PORT": "35673",
        "RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS": "-kernel inet_dist_use_interface {{127,0,0,1}}",
        "RABBITMQ_MNESIA_BASE": "{folder}",
        "RABBITMQ_LOG_BASE": "{folder}",
        "RABBITMQ_ENABLED_PLUGINS_FILE": "{folder}/plugins",
        "RABBITMQ_PID_FILE": "{folder}/node",
        "ERL_EPMD_ADDRESS": HOST,
        "ERL_EPMD_PORT": str(_EPMD_PORT),
    },
)
NATS: Final = Broker(
    "nats",
    "nats-server",
    34222,
    "nats-server",
    ("--addr", HOST, "--port", "{port}", "--jetstream", "--store_dir", "{folder}"),
)
REDIS: Final = Broker(
    "redis",
    "redis-server",
    36379,
    "redis-server",
    ("--bind", HOST, "--port", "{port}", "--dir", "{folder}", "--save", "", "--appendonly", "no"),
)
MOSQUITTO: Final = Broker(
    "mosquitto",
    "mosquitto",
    31883,
    "mosquitto",
    ("-c", "{folder}/configuration"),
    configuration="listener {port} 127.0.0.1\nallow_anonymous true\nmax_queued_messages 100000\n",
)
BROKERS: Final = (RABBITMQ, NATS, REDIS, MOSQUITTO)


def _answers(port: int) -> bool:
    try:
        with socket.create_connection((HOST, port), timeout=1):
            return True
    except OSError:
        return False


def _runs(process: int) -> bool:
    """Not a zombie either, which it stays where nobody asks how it ended."""
    try:
        state = Path(f"/proc/{process}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


def install(brokers: Iterable[Broker]) -> None:
    """Install what is missing. Installing starts nothing: the services of the packages stay off."""
    missing = [broker.package for broker in brokers if not broker.installed()]
    if not missing:
        return
    command = ["apt-get", "install", "--yes", "--no-install-recommends", *missing]
    if os.geteuid() != 0 or shutil.which("apt-get") is None:
        sys.exit(f"these brokers are missing: {', '.join(missing)}; on Debian, as root: {' '.join(command)}")
    # invoke-rc.d starts no service in runlevel 1.
    quiet = {**os.environ, "DEBIAN_FRONTEND": "noninteractive", "RUNLEVEL": "1"}
    subprocess.run(["apt-get", "update", "--quiet=2"], env=quiet, check=True)
    subprocess.run(command, env=quiet, check=True)


def start(broker: Broker) -> None:
    """Start one broker and wait until it answers."""
    if broker.answers():
        print(f"{broker.name} answers at {HOST}:{broker.port}")
        return
    broker.folder.mkdir(parents=True, exist_ok=True)
    if broker.configuration:
        (broker.folder / "configuration").write_text(broker.filled(broker.configuration), encoding="utf-8")
    settings = {name: broker.filled(value) for name, value in broker.settings.items()}
    command = [broker.program, *map(broker.filled, broker.arguments)]
    with (broker.folder / "log").open("ab") as log:
        started = subprocess.Popen(
            command,
            env={**os.environ, "PATH": _PLACES, **settings},
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
    (broker.folder / "pid").write_text(str(started.pid), encoding="utf-8")
    until = time.monotonic() + PATIENCE
    while not broker.answers():
        if started.poll() is not None or time.monotonic() > until:
            sys.exit(f"{broker.name} did not start; its log is {broker.folder / 'log'}")
        time.sleep(0.1)
    print(f"{broker.name} answers at {HOST}:{broker.port}")


def stop(broker: Broker) -> None:
    """Stop what `start` started, and remove its data."""
    file = broker.folder / "pid"
    if not file.exists():
        return
    group = int(file.read_text(encoding="utf-8"))
    with contextlib.suppress(ProcessLookupError):
        os.killpg(group, signal.SIGTERM)
    until = time.monotonic() + PATIENCE
    while _runs(group):
        if time.monotonic() > until:
            sys.exit(f"{broker.name} does not stop; it is process {group}")
        time.sleep(0.1)
    # Erlang starts a register of names, which stays. This one has a port of its own, and ends once it has no name.
    while broker is RABBITMQ and _answers(_EPMD_PORT) and time.monotonic() < until:
        command = ["epmd", "-port", str(_EPMD_PORT), "-kill"]
        subprocess.run(command, capture_output=True, timeout=PATIENCE, check=False)
        time.sleep(0.1)
    shutil.rmtree(broker.folder, ignore_errors=True)
    print(f"{broker.name} is stopped")


def main() -> None:
    """Start or stop brokers."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("what", choices=["start", "stop"])
    parser.add_argument("names", nargs="*", metavar="NAME", help="all of them, if none is named")
    asked = parser.parse_args()
    known = {broker.name: broker for broker in BROKERS}
    if unknown := sorted(set(asked.names) - set(known)):
        parser.error(f"unknown broker {unknown[0]}; there are {', '.join(known)}")
    brokers = [known[name] for name in asked.names or known]
    if asked.what == "stop":
        for broker in brokers:
            stop(broker)
        return
    install(brokers)
    for broker in brokers:
        start(broker)


if __name__ == "__main__":
    main()
