"""Ids that a trace may have and that something could stumble over, and executions whose ids are exchanged for them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from hypothesis import strategies as st

from precedes.core.execution import Execution, History

HOSTILE = (
    *("order 1", " ", "  ", " a ", "a  b", "\t", "\n", "a\nb", "\r\n", "\x0b", "\x85", "\u2028", "\xa0"),
    *(
        '"',
        '""',
        "\\",
        '\\"',
        "\\u{41}",
        "'",
        "`",
        "```",
        "$(id)",
        "`id`",
        "a,b",
        "a;b",
        ",",
        ";",
        ":",
        "a:b",
    ),
    *(
        "[",
        "]",
        "<",
        ">",
        "(",
        "{1,2}",
        "a{2}",
        "a_{23}",
        "||",
        "a||b",
        "&",
        "&amp;",
        "@",
        "a@2",
        "^",
        "!a",
        "?a",
    ),
    *(
        "#",
        "# x",
        "...",
        "---",
        "-",
        "--",
        "-->",
        "<!--",
        "]]>",
        "<script>alert(1)</script>",
        "<b>",
        "*",
        "**a**",
    ),
    *(
        "|",
        "![x](http://e.example/x.png)",
        "[x](http://e.example)",
        "@team",
        "_",
        "__a__",
        "a_",
        "~",
        "a~>b",
        "+",
    ),
    *(
        "::error::x",
        "%0A",
        "%",
        "ok 1",
        "1",
        "007",
        "1C",
        "100ms",
        "-1",
        "1.5",
        "\u0663",
        "\xb2",
        "a.b",
        "a/b",
    ),
    *(
        "forall",
        "scenario",
        "cluster",
        "expect",
        "delta",
        "not",
        "view",
        "crash",
        "arrive",
        "in",
        "true",
        "among",
    ),
    *(
        "RL",
        "SL",
        "RL1",
        "SL1",
        "H1",
        "RL[1]",
        "H",
        "E1",
        "E2",
        "dest",
        "send",
        "sender",
        "ST",
        "fifo_delivery",
    ),
    *(
        "before",
        "and",
        "nobody",
        "neither",
        "both",
        "entity",
        "message",
        "null",
        "None",
        "NaN",
        "p",
        "q",
        "i",
    ),
    *(
        "\x1b[31mred\x1b[0m",
        "\x1b]0;title\x07",
        "\x07",
        "\x08",
        "\x00",
        "\x7f",
        "\x9b31m",
        "\u202e",
        "\u200f",
    ),
    *(
        "\u05d0\u05d1",
        "\u0301",
        "e\u0301",
        "\xe9",
        "\u65e5\u672c",
        "\U0001f600",
        "\U000e0001",
        "\ufffe",
        "\uffff",
    ),
    *("x" * 10_000, "y" * 9_999 + " ", "\u03b4", "\u0394", "\u221e", "\ufeff", "\u200b", "\u2060"),
)
"""Each is the id of an entity in one execution and of a message in another."""


def names() -> st.SearchStrategy[str]:
    """Any id that UTF-8 can hold, and often one of the hostile ones."""
    return st.one_of(
        st.sampled_from(HOSTILE),
        st.text(st.characters(exclude_categories=("Cs",)), min_size=1, max_size=12),
    )


def renamed(execution: Execution, entities: Mapping[str, str], messages: Mapping[str, str]) -> Execution:
    """The same execution with other ids."""
    return replace(
        execution,
        histories=tuple(_history(history, entities, messages) for history in execution.histories),
        messages={
            messages[name]: replace(
                message,
                name=messages[name],
                sender=None if message.sender is None else entities[message.sender],
                destinations=None
                if message.destinations is None
                else frozenset(map(entities.__getitem__, message.destinations)),
            )
            for name, message in execution.messages.items()
        },
        marks={entities[entity]: place for entity, place in execution.marks.items()},
    )


def _history(history: History, entities: Mapping[str, str], messages: Mapping[str, str]) -> History:
    events = tuple(
        replace(
            event,
            message=None if event.message is None else messages[event.message],
            clock=None if event.clock is None else {entities[name]: n for name, n in event.clock.items()},
            members=tuple(map(entities.__getitem__, event.members)),
        )
        for event in history.events
    )
    return replace(history, entity=entities[history.entity], events=events)
