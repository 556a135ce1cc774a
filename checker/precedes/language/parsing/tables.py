"""The tables of the parser: shipped as `tables.json`, made from `grammar.lark` by lark, which only this module imports.

`python -m tools.grammar` makes the file, and a test compares it with the grammar. While the two differ, as they do when
somebody works on the grammar, the tables are made anew in memory.
"""

from __future__ import annotations

import json
from hashlib import sha256
from importlib.resources import files
from typing import Any, Final

from precedes.language.parsing.lalr import Rule, Tables

RULES: Final = (
    "scenario",
    "cluster",
    "group",
    "set",
    "log",
    "expect",
    "definition",
    "attribute",
    "question",
    "sentence",
)
"""What a statement may start from: the rules of the grammar that are parsed by themselves."""


def tables() -> Tables:
    """The tables of the grammar."""
    folder = files("precedes.language.parsing")
    grammar = folder.joinpath("grammar.lark").read_text(encoding="utf-8")
    shipped = json.loads(folder.joinpath("tables.json").read_text(encoding="utf-8"))
    data = shipped if shipped["grammar"] == fingerprint(grammar) else generated(grammar)
    rules = tuple(Rule(*rule) for rule in data["rules"])
    starts, ends = ({rule: data[kind][rule] for rule in RULES} for kind in ("starts", "ends"))
    return Tables(tuple(data["states"]), rules, starts, ends)


def fingerprint(grammar: str) -> str:
    """What tells one text of the grammar from another."""
    return sha256(grammar.encode()).hexdigest()


def generated(grammar: str) -> dict[str, Any]:
    """The tables as plain data, from what lark writes of a parser for its stand-alone form."""
    import lark
    from lark.grammar import Rule as LarkRule
    from lark.lexer import TerminalDef

    parser = lark.Lark(grammar, parser="lalr", lexer="basic", start=list(RULES), maybe_placeholders=False)
    data, memo = parser.memo_serialize([TerminalDef, LarkRule])
    table = data["parser"]["parser"]
    rules = {key: _plain(rule) for key, rule in memo.items() if rule["__type__"] == "Rule"}
    # lark numbers rules and states as its sets have them; here they are numbered by what they are.
    numbers = {rule: number for number, rule in enumerate(sorted(set(rules.values()), key=repr))}
    actions = {
        state: dict(sorted((table["tokens"][token], tuple(what)) for token, what in found.items()))
        for state, found in table["states"].items()
    }
    order = _reached([table["start_states"][rule] for rule in RULES], actions)
    states = [
        {
            token: order[what] if action == 0 else -1 - numbers[rules[what["@"]]]
            for token, (action, what) in actions[state].items()
        }
        for state in order
    ]
    starts = {rule: order[table["start_states"][rule]] for rule in RULES}
    ends = {rule: order[table["end_states"][rule]] for rule in RULES}
    return {
        "grammar": fingerprint(grammar),
        "states": states,
        "rules": list(numbers),
        "starts": starts,
        "ends": ends,
    }


def _plain(rule: dict[str, Any]) -> tuple[str, int, str | None, bool]:
    origin, alias = rule["origin"]["name"], rule["alias"]
    size = len(rule["expansion"])
    transparent = size == 1 and alias is None and bool(rule["options"]["expand1"])
    method = None if transparent or origin.startswith("_") else alias or origin
    return origin, size, method, transparent


def _reached(starts: list[Any], actions: dict[Any, dict[str, tuple[int, Any]]]) -> dict[Any, int]:
    """The states with their numbers, in the order in which they are reached breadth first."""
    order = {state: number for number, state in enumerate(dict.fromkeys(starts))}
    waiting = list(order)
    for state in waiting:
        for action, what in actions[state].values():
            if action == 0 and what not in order:
                order[what] = len(order)
                waiting.append(what)
    return order
