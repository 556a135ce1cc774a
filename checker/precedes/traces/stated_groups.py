"""Groups that are stated beside a trace: a mapping, or a file of TOML or JSON, as in `billing = ["c1", "c2"]`."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path

from precedes.core.diagnostics import Diagnostic, PrecedesError
from precedes.language.quoting import shown
from precedes.traces.formats.text_stream import reason
from precedes.traces.formats.values import DuplicateName, RowError, id_text, parse_json
from precedes.traces.options import GroupMembers
from precedes.traces.problems import unreadable

GivenGroups = Mapping[str, Sequence[str]] | str | os.PathLike[str]


def given_groups(groups: GivenGroups | None) -> GroupMembers:
    """The members of groups by their names, in order. PrecedesError (T002, T003, T022) for what states none."""
    if groups is None:
        return ()
    if isinstance(groups, Mapping):
        return _members(groups, "groups")
    return _members(_read(os.fspath(groups)), os.fspath(groups))


def united(*several: GroupMembers) -> GroupMembers:
    """Groups that are stated in several places; of one name the members of all."""
    found: dict[str, set[str]] = {}
    for groups in several:
        for name, members in groups:
            found.setdefault(name, set()).update(members)
    return tuple((name, tuple(sorted(members))) for name, members in sorted(found.items()))


def _read(path: str) -> object:
    try:
        text = Path(path).read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise unreadable("T006", "the file of groups is not UTF-8", path, "write it as UTF-8") from error
    except OSError as error:
        raise unreadable("T003", f"cannot be read: {reason(error)}", path) from error
    try:
        match Path(path).suffix.lower():
            case ".toml":
                return tomllib.loads(text)
            case ".json":
                return parse_json(text)
            case _:
                raise unreadable(
                    "T002", "a file of groups is TOML or JSON", path, "name a .toml or a .json file"
                )
    except DuplicateName as error:
        raise _mistake(path, f"the name {shown(str(error))} occurs twice in the file of groups") from error
    except (ValueError, RecursionError) as error:
        raise _mistake(path, f"the file of groups cannot be read: {error}") from error


def _members(groups: object, path: str) -> GroupMembers:
    if not isinstance(groups, Mapping):
        raise _mistake(path, "this is no mapping from groups to their members")
    found: dict[str, tuple[str, ...]] = {}
    for name, members in groups.items():
        if isinstance(members, str) or not isinstance(members, Sequence):
            raise _mistake(path, f"the members of {shown(str(name))} are no list")
        try:
            what = f"a member of {shown(str(name))}"
            found[id_text(name, "a group")] = tuple(sorted({id_text(one, what) for one in members}))
        except RowError as error:
            raise _mistake(path, error.message) from error
    return tuple(sorted(found.items()))


def _mistake(path: str, message: str) -> PrecedesError:
    hint = 'each group has a list of entities, as in billing = ["c1", "c2"]'
    return PrecedesError((Diagnostic("T022", message, path, hint=hint),))
