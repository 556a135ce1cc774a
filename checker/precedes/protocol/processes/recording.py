"""What a process keeps of an execution in files: what its entity logged, what a crash would leave, and its moves.

A row is in the file before anybody else learns of the step that it belongs to. So a process that is killed leaves what
its entity did, and another process goes on behind it.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import msgspec

from precedes.core.execution import EventKind
from precedes.protocol.exploration.histories import Entry, view_id
from precedes.protocol.model import TICK
from precedes.protocol.running import move_log
from precedes.protocol.running.encoding import Encoding
from precedes.protocol.running.move_log import LoggedMove
from precedes.protocol.running.setting import Setting
from precedes.protocol.simulation.simulator import name_of
from precedes.protocol.validation.carried_values import CarriedValues, written
from precedes.record import Recorder

_SECOND: Final = 10**9


class Files:
    """The files of one entity in one execution, by the ticket."""

    def __init__(self, folder: str, ticket: int, entity: int) -> None:
        stem = Path(folder) / f"{ticket}-{entity}"
        self.rows = stem.with_suffix(".jsonl")
        self.memory = stem.with_suffix(".memory")
        self.moves = stem.with_suffix(".moves")

    def taken(self) -> tuple[bytes, bytes]:
        """The rows, and the moves with commas between them; the files are gone then."""
        found = self.rows.read_bytes(), b",".join(self.moves.read_bytes().splitlines())
        for path in (self.rows, self.memory, self.moves):
            path.unlink(missing_ok=True)
        return found


class Record:
    """What an entity does, as it goes. Who takes over goes on in the files of the process before it.

    Args:
        files: Where it stands.
        number: That of the execution.
        rows: How an event is written.
        encoding: How values of the model are written.
    """

    def __init__(self, files: Files, number: int, rows: Rows, encoding: Encoding) -> None:
        self._files = files
        self._execution = name_of(number)
        self._rows = rows
        self.encoding = encoding
        self._recorder = Recorder(files.rows, self._execution)
        self._before = files.rows.read_bytes().splitlines(keepends=True)
        self._logged: list[Entry] = []
        self._remembered = b""
        self._moves: list[bytes] = []

    def accepted(self) -> int:
        """How many requests the entity had accepted before it stopped."""
        return sum(msgspec.json.decode(row)["event"] == EventKind.SEND.value for row in self._before)

    def log(self, history: Sequence[Entry]) -> None:
        """Write what is new in a history; all of it, where the protocol has put in another order what was there."""
        kept = len(self._logged)
        if self._rows.may_change and self._logged != history[:kept]:
            self._write_anew()
            kept = 0
        for seq, entry in enumerate(history[kept:], len(self._before) + kept):
            self._recorder.write(self._rows.row(seq, entry))
        self._logged += history[kept:]

    def _write_anew(self) -> None:
        """Begin the rows of this process again."""
        self._recorder.close()
        self._files.rows.write_bytes(b"".join(self._before))
        self._recorder = Recorder(self._files.rows, self._execution)
        self._logged = []

    def remember(self, left: Any) -> None:
        """Keep what would be left after a crash, in a file that is always whole."""
        text = self.encoding.encode(left)
        if text != self._remembered:
            self._remembered = text
            new = self._files.memory.with_suffix(".new")
            new.write_bytes(text)
            new.replace(self._files.memory)

    def left(self) -> Any:
        """What the process before this one has left."""
        return self.encoding.decode(self._files.memory.read_bytes())

    def moved(self, move: LoggedMove) -> None:
        """Note a move; it is written when nothing follows."""
        self._moves.append(move_log.written(move, self.encoding))

    def close(self) -> None:
        """Nothing follows in this process."""
        self._recorder.close()
        with self._files.moves.open("ab") as file:
            file.writelines(each + b"\n" for each in self._moves)


class Rows:
    """How the events of an entity are written, without the name of the execution. A tick is a microsecond, as in a
    simulation.
    """

    def __init__(self, setting: Setting, entity: int) -> None:
        protocol = setting.protocol
        self.may_change = setting.rearranges
        self._names = [protocol.name_of(each) for each in range(setting.conditions.entities)]
        self._entity = self._names[entity]
        self._carried = CarriedValues(protocol)

    def row(self, seq: int, entry: Entry) -> dict[str, object]:
        """The row of an event."""
        names = self._names
        row: dict[str, object] = {"entity": self._entity, "seq": seq, "event": entry.kind.value}
        if entry.message is not None:
            row["message"] = entry.message.name
        if entry.kind is EventKind.SEND and entry.message is not None:
            row["dest"] = [names[each] for each in sorted(entry.message.destinations)]
            row |= {
                attribute.name: written(attribute, value)
                for attribute, value in self._carried.of(entry.message).items()
            }
        if entry.time is not None:
            row["time"] = entry.time * TICK / _SECOND
        if entry.clock is not None:
            row["clock"] = dict(zip(names, entry.clock, strict=True))
        if entry.members is not None:
            row["view"] = view_id(entry.members, names)
            row["members"] = [names[each] for each in sorted(entry.members)]
        return row
