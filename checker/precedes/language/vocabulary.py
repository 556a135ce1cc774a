"""The built-in words of the language, in one table. Sorts are checked with it, terms are lowered with it, and
the reference page is made from it (docs/reference/language.md, by tools/pages.py).

The definitions of the standard library are not here.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from precedes.language.syntax import Sort

Alternatives = tuple[Sort, ...]

ENTITY: Final[Alternatives] = (Sort.ENTITY,)
MESSAGE: Final[Alternatives] = (Sort.MESSAGE,)
LOG: Final[Alternatives] = (Sort.LOG,)
EVENT: Final[Alternatives] = (Sort.EVENT,)
DELIVERY: Final[Alternatives] = (Sort.DELIVERY,)
VIEW: Final[Alternatives] = (Sort.VIEW,)
HAPPENING: Final[Alternatives] = (Sort.MESSAGE, Sort.EVENT)


@dataclass(frozen=True, slots=True)
class Function:
    """A built-in function. `result` is None for sets, `dest` and `members`."""

    name: str
    parameters: tuple[Alternatives, ...]
    result: Sort | None
    meaning: str


@dataclass(frozen=True, slots=True)
class Relation:
    """A built-in relation that is written like a predicate."""

    name: str
    parameters: tuple[Alternatives, ...]
    meaning: str


@dataclass(frozen=True, slots=True)
class Notation:
    """A form with its own syntax. `unicode` lists other spellings that are read as the same."""

    form: str
    unicode: str
    meaning: str


FUNCTIONS: Final = {
    function.name: function
    for function in (
        Function("sender", (MESSAGE,), Sort.ENTITY, "who sent p; undefined if nobody did"),
        Function("owner", (LOG,), Sort.ENTITY, "whose log L is"),
        Function(
            "dest",
            (MESSAGE,),
            None,
            "the destinations of p, entities and the groups that it is addressed to by name; stands after `in`",
        ),
        Function("members", ((Sort.GROUP, Sort.VIEW),), None, "who is in g or v; stands after `in`"),
        Function("top", (LOG,), Sort.MESSAGE, "the first message of L (1994, §2.2)"),
        Function("last", (LOG,), Sort.MESSAGE, "the last message of L (1994, §2.2)"),
        Function("send", (MESSAGE,), Sort.EVENT, "the send of p"),
        Function("deliver", (MESSAGE, ENTITY), Sort.EVENT, "the first delivery of p at i"),
        Function("arrive", (MESSAGE, ENTITY), Sort.EVENT, "the first arrival of p at i"),
        Function("send_time", (MESSAGE,), Sort.TIME, "when p was sent (Δ-causal paper, SendTime)"),
        Function("deliver_time", (MESSAGE, ENTITY), Sort.TIME, "when p was delivered at i"),
        Function("arrive_time", (MESSAGE, ENTITY), Sort.TIME, "when p arrived at i"),
        Function(
            "position",
            (MESSAGE, LOG),
            Sort.NUMBER,
            "the place of p in L, from 1: its first occurrence; position(d, DL[i]) is the place of a delivery",
        ),
        Function("message", (DELIVERY,), Sort.MESSAGE, "the message of the delivery d"),
        Function("receiver", (DELIVERY,), Sort.ENTITY, "the entity at which d happened"),
        Function(
            "nth",
            (DELIVERY,),
            Sort.NUMBER,
            "which delivery of its message at its entity d is: 1 is the first",
        ),
        Function("time", (DELIVERY,), Sort.TIME, "when d happened"),
        Function(
            "view",
            ((Sort.EVENT, Sort.DELIVERY),),
            Sort.VIEW,
            "the view in which e happened: the last one that its entity installed before; undefined if there is none",
        ),
        Function(
            "number",
            (VIEW,),
            Sort.NUMBER,
            "the whole number that the id of v is written as; unknown if it is none",
        ),
        Function("size", (LOG,), Sort.NUMBER, "how many messages are in L"),
        Function("clock", (EVENT, ENTITY), Sort.NUMBER, "the component for i of the clock recorded with e"),
        Function(
            "implied_clock",
            (EVENT, ENTITY),
            Sort.NUMBER,
            "how many sends, deliveries and local events of i happen before e or are e (CMD paper, Lemma 2)",
        ),
    )
}

RELATIONS: Final = {
    relation.name: relation
    for relation in (
        Relation("sent", (MESSAGE,), "somebody sent p, whether or not the send was logged"),
        Relation("faulty", (ENTITY,), "the last crash of i is not followed by a recovery"),
        Relation(
            "repeated",
            ((Sort.MESSAGE, Sort.VIEW), (Sort.LOG, Sort.VIEWS)),
            "p occurs in L more than once; v is installed more than once, of `VL[i]`",
        ),
        Relation("installs", (ENTITY, VIEW), "i installs v"),
        Relation(
            "in_flight",
            (DELIVERY, DELIVERY),
            "the entity made d before e and neither acknowledged the message of d nor gave it back in between",
        ),
        Relation("acknowledged", (MESSAGE, ENTITY), "i acknowledged p: an `ack` is recorded there"),
        Relation(
            "concurrent",
            (HAPPENING, HAPPENING),
            "p and q, messages or events, differ and are not ordered by `~>` (CMD paper, Definition 2)",
        ),
        Relation("marks_on_failure_line", (), "the marks `||` stand where 1994, §4.1 puts the failure line"),
    )
}

LOG_TERMS: Final = (
    Notation("SL[i]", "", "the log of what i sent"),
    Notation("SL[i, j]", "", "the sub-log of what i sent to j (1994, §2.2)"),
    Notation("RL[i]", "", "the log of what i delivered, each message at its first delivery"),
    Notation(
        "DL[i]",
        "",
        "every delivery of i, repeats too. Its members are deliveries: d, e and so on stand for these",
    ),
    Notation(
        "VL[i]",
        "",
        "the views that i installed, each at its first installation. Its members are views: v, w and so on",
    ),
    Notation("SL1, RL1, DL1, VL1", "", "the logs of the first entity of the cluster; in scenarios"),
    Notation("L[h]", "", "the message at place h of L"),
    Notation(
        "L[..h], L[h..], L[g..h]",
        "",
        "the part of L up to place h, from h on, or between; both ends are included",
    ),
)

ATOMS: Final = (
    Notation("p in L", "∈", "p is in L; `p in L & M`: in both"),
    Notation("d in DL[i], d <[DL[i]] e", "∈", "d is a delivery of i; d and e are, and d comes first"),
    Notation("v in VL[i], v <[VL[i]] w", "∈", "i installs v; i installs both, and v first"),
    Notation("i in dest(p)", "∈", "i is a destination of p"),
    Notation("g in dest(p)", "∈", "p is addressed to the group g by its name"),
    Notation("i in members(g), i in members(v)", "∈", "i is in the group g, in the view v"),
    Notation("i in {E1, E2}", "∈", "i is one of these"),
    Notation("p <[L] q", "", "both are in L and p comes first"),
    Notation(
        "p ~> q",
        "→",
        "the send of p happens before the send of q; of events: e happens before f. Irreflexive",
    ),
    Notation(
        "x = y, x != y",
        "≠",
        "of entities, messages, groups, views, times, durations, numbers; `x != y` is `not x = y`",
    ),
    Notation("x < y, x <= y, x > y, x >= y", "≤ ≥", "of two times, two durations or two numbers"),
    Notation(
        "key(p)",
        "",
        "the attribute key of p, where `attribute key of message: text` declares it; a text, number, time or duration",
    ),
    Notation(
        "attempt(d)",
        "",
        "the attribute attempt of a delivery d, where `attribute attempt of event: number` declares it",
    ),
    Notation('key(p) = "k1"', "≠", "of texts, quoted here; texts have no order"),
    Notation(
        "name(p, q: F)",
        "",
        "a predicate of a relation: for `predicate name(R: relation) := ...` it says that R(p, q) means F",
    ),
    Notation("true, false", "", ""),
    Notation("acyclic(p, q: F)", "", "the relation that F is between p and q has no cycle"),
    Notation('undetermined "why"', "", "a statement that cannot be judged yet: always unknown"),
)

CONNECTIVES: Final = (
    Notation(
        "forall x, y in C: F",
        "∀ ∈",
        "every x and y in C; without `in`, all of their sort. F extends as far as possible",
    ),
    Notation("exists x in C: F", "∃ ∈", "some x in C"),
    Notation(
        "forall g in groups: F",
        "∀ ∈",
        "every group; `groups` is no reserved word, and a variable of that name comes first",
    ),
    Notation("forall v in views: F", "∀ ∈", "every view that somebody installs; `views` is no reserved word"),
    Notation(
        "quiescent F",
        "",
        "F where nothing is in flight. F extends as far as possible; modes inside F have no effect. "
        "In a trace or a scenario nothing is in flight",
    ),
    Notation("always F", "", "F in every state that a model reaches; modes inside F have no effect"),
    Notation("not F", "¬", "binds stronger than `and`, and weaker than `per`"),
    Notation("F and G", "∧", ""),
    Notation("F or G", "∨", ""),
    Notation("F implies G", "⇒", "groups to the right"),
    Notation("F iff G", "⇔", "binds weakest"),
    Notation(
        "F per key, F per (topic, partition)",
        "",
        "F of the messages of each value of these attributes. Entities, `~>`, clocks and times stay those of the "
        "whole. Binds stronger than `not`. A message without one of the attributes is in no part",
    ),
    Notation(
        "F among E1 E2",
        "",
        "F for some of the entities: an entity that owns a receipt log in F is one of these",
    ),
)

NUMBERS: Final = (
    Notation("10", "", "a number"),
    Notation("100ms", "", "a duration; the units are ns, us (µs), ms, s, min"),
    Notation("delta, epsilon", "Δ ε", "those of the execution: durations"),
    Notation("x + y, x - y", "", "time + duration, time - time (a duration), and within one sort"),
    Notation("2 * x, x / 2", "", "only by a number: arithmetic is linear"),
)

STATEMENT_FORMS: Final = (
    Notation(
        'scenario NAME "title" source "where it is from"',
        "",
        "begins a scenario; you may omit title and source",
    ),
    Notation(
        "cluster E1 E2 E3",
        "",
        "the entities; their places in this list are the numbers 1, 2, 3",
    ),
    Notation("group billing: E1 E2", "", "a group: entities that take messages for one another"),
    Notation("delta 10", "Δ", "the time that a message may take; a number without a unit is in seconds"),
    Notation("epsilon 1ms", "ε", "how far apart the clocks of two entities may be"),
    Notation(
        "expect F, expect not F, expect unknown F",
        "",
        "F holds in this scenario, is violated in it, or cannot be decided in it",
    ),
    Notation('predicate name(L: log) "title" source "citation" := F', "", "defines a predicate"),
    Notation(
        'service name "title" source "citation" := F', "", "defines what a communication system promises"
    ),
    Notation(
        "attribute key of message: text", "", "declares what messages, or deliveries (`of event`), carry"
    ),
    Notation("claim F", "", "must be proved, for every number of entities and messages"),
    Notation("refute F", "", "must have a counterexample"),
    Notation("find F with entities = 2, messages <= 2", "", "must have an example, up to these sizes"),
)

KEYWORDS: Final = {
    word: word.upper()
    for word in (
        *(
            "scenario",
            "cluster",
            "expect",
            "delta",
            "epsilon",
            "predicate",
            "service",
            "claim",
            "refute",
            "find",
            "attribute",
        ),
        *("source", "among", "with", "unknown", "undetermined", "true", "false", "acyclic"),
        *("not", "and", "or", "implies", "iff", "forall", "exists", "always", "quiescent", "in", "per"),
    )
} | {"Δ": "DELTA", "ε": "EPSILON", "ϵ": "EPSILON"}
"""The reserved words, and the terminals they are. A message or entity of such a name is quoted."""

GROUP: Final = "group"
"""It begins a statement where a name and `:` follow, and is a name anywhere else."""
EVERY: Final = {"groups": Sort.GROUP, "views": Sort.VIEW}
"""What stands after `in` for everything of a sort, unless a variable has that name."""

STATEMENTS: Final = {
    "SCENARIO": "scenario",
    "CLUSTER": "cluster",
    "EXPECT": "expect",
    "DELTA": "set",
    "EPSILON": "set",
    "PREDICATE": "definition",
    "SERVICE": "definition",
    "CLAIM": "question",
    "REFUTE": "question",
    "FIND": "question",
    "ATTRIBUTE": "attribute",
    "GROUP": "group",
}
"""Which grammar rule a statement that begins with a word is."""

HISTORY_WORDS: Final = {
    word: word.upper() for word in ("arrive", "discard", "ack", "nack", "crash", "recover", "view", "local")
}
"""Words that are reserved inside `< ... ]` only."""

SYMBOLS: Final = {
    ":=": "ASSIGN",
    "≔": "ASSIGN",
    "<[": "BEFORE",
    "~>": "LEADS",
    "→": "LEADS",
    "..": "DOTS",
    "||": "MARK",
    "‖": "MARK",
    "<=": "AT_MOST",
    "≤": "AT_MOST",
    ">=": "AT_LEAST",
    "≥": "AT_LEAST",
    "!=": "DIFFERENT",
    "≠": "DIFFERENT",
    "<": "LESS",
    ">": "MORE",
    "=": "EQUAL",
    "¬": "NOT",
    "∧": "AND",
    "∨": "OR",
    "⇒": "IMPLIES",
    "⇔": "IFF",
    "∀": "FORALL",
    "∃": "EXISTS",
    "∈": "IN",
    "∆": "DELTA",
    ":": "COLON",
    ",": "COMMA",
    "(": "LPAR",
    ")": "RPAR",
    "[": "LSQB",
    "]": "RSQB",
    "_{": "UNDER",
    "\\{": "LESC",
    "\\}": "RESC",
    "{": "LBRACE",
    "}": "RBRACE",
    "&": "AMPERSAND",
    "+": "PLUS",
    "-": "MINUS",
    "*": "STAR",
    "/": "SLASH",
    "@": "TIME",
    "^": "CARET",
    "!": "SEND",
    "?": "DELIVER",
}
"""Every symbol and its terminal, the longer ones first."""

UNITS: Final = {
    "ns": Fraction(1),
    "us": Fraction(1_000),
    "µs": Fraction(1_000),
    "μs": Fraction(1_000),
    "ms": Fraction(1_000_000),
    "s": Fraction(1_000_000_000),
    "min": Fraction(60_000_000_000),
}
"""Nanoseconds in a unit. Both the micro sign and the Greek letter are read."""


COLUMNS: Final = frozenset(
    (
        *("execution", "entity", "seq", "event", "message", "dest", "sender", "time", "clock"),
        *("redelivered", "group", "view", "members"),
    )
)
"""The columns of a trace that have a meaning of their own. No attribute has such a name."""


def signature(name: str, parameters: tuple[Alternatives, ...]) -> str:
    """`name(sort, sort)`, as messages and the reference write it."""
    if not parameters:
        return name
    return f"{name}({', '.join(' or '.join(sort.value for sort in allowed) for allowed in parameters)})"
