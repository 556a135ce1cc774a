"""The pages of docs/reference that are made from the program: `python tools/pages.py`.

A test holds that they are current.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Final

from precedes.core.error_codes import codes
from precedes.core.formula import AttributeSort
from precedes.language import vocabulary
from precedes.language.library import Library, profile_library, standard_library
from precedes.language.printer import statement_text
from precedes.language.profiles import profiles
from precedes.language.requirements import mode_in, requirement
from precedes.language.syntax import DefinitionKind, Sort
from precedes.language.vocabulary import Alternatives, Notation
from precedes.reports.definitions import needed

FOLDER = Path(__file__).parent.parent / "docs/reference"
PROFILES = Path(__file__).parent.parent / "specs/precedes_specs/profiles"

KINDS = {
    "U": "The command",
    "K": "Spark",
    "I": "Internal",
    "P": "Syntax",
    "N": "Names and sorts",
    "S": "Scenarios",
    "T": "Traces",
    "M": "Protocol models",
    "C": "Configuration",
    "G": "Rules of the gate",
}


# ---- predicates, services, codes ---------------------------------------------------------------------------


def library() -> str:
    """Every predicate and service with its definition."""
    known = standard_library()
    lines = [
        "# Predicates and services",
        "",
        "These names can follow `expect`, `claim` and `--require`. Generated from the library.",
        "",
        "The mode says where an exploration checks a name: always, in every reachable state, or quiescent, where",
        "nothing is in flight ([protocol models](../protocols.md)). Traces and scenarios have no intermediate states.",
    ]
    for heading, kind in (("Services", DefinitionKind.SERVICE), ("Predicates", DefinitionKind.PREDICATE)):
        lines += ["", f"## {heading}"]
        for name in known.names():
            definition = known.definition(name)
            if definition.kind is not kind:
                continue
            lines += ["", f"### {name}", ""]
            lines += [f"{definition.title}."] if definition.title else []
            lines += [f"*{definition.source}*"] if definition.source else []
            mode = mode_in(name, known)
            lines += [f"Mode: {mode.value}."] if mode else []
            bare = replace(definition, title=None, source=None)
            lines += ["", "```", statement_text(bare), "```"]
    return "\n".join(lines) + "\n"


def promises() -> str:
    """Every profile: what it asks and what a trace needs for it, and the files that define them, with their remarks."""
    known = profile_library()
    lines = [
        "# Profiles of brokers",
        "",
        "What brokers promise, in the language itself. `precedes verify TRACE --profile NAME` asks one of a trace;",
        "[What did my broker promise?](../how-to/broker-promises.md) shows how. Generated from the profiles.",
        "",
        "No profile asks for more than its source says. If that is less than people think, the remarks above its",
        "definition say so.",
        "",
    ]
    lines += _table(
        ("profile", "what is promised", "it asks for", "a trace needs"),
        (
            (
                f"`{name.replace('_', '-')}`",
                known.definition(name).title or "",
                ", ".join(f"`{part.name}`" for part in requirement(name, known).parts),
                " and ".join(needed(name, known)),
            )
            for name in profiles()
        ),
    )
    for path in sorted(PROFILES.glob("*.prec")):
        lines += ["", f"## {path.stem}", "", "```", path.read_text(encoding="utf-8").strip(), "```"]
    return "\n".join(lines) + "\n"


def messages() -> str:
    """Every code that a user can meet."""
    lines = ["# Codes", "", "What `precedes explain CODE` says. Generated from the program."]
    for letter, heading in KINDS.items():
        found = [code for code in codes().values() if code.code.startswith(letter)]
        lines += ["", f"## {heading}"] if found else []
        for code in found:
            name = f" ({code.name})" if code.name else ""
            lines += [
                "",
                f"### {code.code}{name}",
                "",
                f"{code.title}.",
                "",
                " ".join(filter(None, (code.why, code.help))),
            ]
            if code.severity is not None:
                lines += ["", f"Counts as {code.severity}, unless the configuration says otherwise."]
    return "\n".join(lines) + "\n"


# ---- the language ------------------------------------------------------------------------------------------

CONCERNS: Final = {
    "Grammar": ("P001", "P002", "P004", "P005", "P006"),
    "Statements": (
        *("N007", "N008", "N013", "P009", "P010", "P016", "S001", "S002", "S013", "S014", "S015", "S019"),
    ),
    "Logs of a scenario": (
        *("P003", "P011", "S003", "S004", "S005", "S006", "S007", "S008", "S009", "S010", "S011", "S012"),
        *("P018", "S016", "S017", "S018", "S019", "S020"),
    ),
    "Sorts": ("N005", "N006", "P008"),
    "Precedence": ("P007",),
    "Connectives and quantifiers": ("N002", "N009", "N016", "P014"),
    "Atoms": ("N011", "N015"),
    "Attributes": ("N004", "N008", "N016", "P016", "S018"),
    "Relations": ("N004", "N014"),
    "Logs": ("N010", "P015"),
    "Functions": ("N003", "N004"),
    "Numbers": ("N012", "P012", "P013"),
    "Predicates and services": ("N001", "N004", "P017"),
}
"""Which codes are met in which part of the language."""

PARTS: Final = {
    "statements": "Statements",
    "logs": "Logs of a scenario",
    "formulas and terms": "Formulas and terms",
}
"""The headings of grammar.lark, and what they are called here."""

PRECEDENCE: Final = (
    ("postfix", "a place or a part of a log"),
    ("factor", "before one number"),
    ("product", "from the left"),
    ("sum", "from the left"),
    ("relation", "not in a chain: `a < b and b < c`"),
    ("asked", "from the left: `F per key per topic` is `(F per key) per topic`"),
    ("negation", "before one formula"),
    ("conjunction", "from the left"),
    ("disjunction", "from the left"),
    ("implication", "from the right: `F implies G implies H` is `F implies (G implies H)`"),
    ("expression", "from the left"),
)
"""The rules of the grammar that are one within the other, the innermost first, and how their operators group."""

_LETTERS: Final = {
    Sort.ENTITY: "i",
    Sort.MESSAGE: "p",
    Sort.DELIVERY: "d",
    Sort.LOG: "L",
    Sort.EVENT: "e",
    Sort.GROUP: "g",
    Sort.VIEW: "v",
}


def language() -> str:
    """The language: its grammar and every word, from the grammar and the vocabulary that the program reads."""
    rules = grammar()
    lines = [
        "# Language reference",
        "",
        "This page lists all forms of the language. [The language](../language.md) explains them. Generated from the",
        "grammar.",
        "",
        "## Grammar",
        "",
        "Text in quotation marks is literal. `?` means at most once, `*` any number of times, `+` at least once.",
        'A `NAME` is letters, digits and `_`; `QUOTED` is text in `"`; an `INT` is a whole number, a `NUMBER` one with',
        "a decimal point, a unit, or both.",
    ]
    lines += _mistakes("Grammar")
    for part, names in rules.items():
        heading = PARTS[part]
        lines += ["", f"### {heading}", "", "```", *(_shown(name, names[name]) for name in names), "```"]
        lines += _mistakes(heading)
    sorts = ", ".join(f"`{sort.value}`" for sort in Sort)
    lines += ["", "## Sorts", ""]
    lines += [
        f"Every variable and term has one of these sorts: {sorts}. The tables below say which sort each form needs."
    ]
    lines += ["A conflict is an error, before anything is judged."]
    lines += _mistakes("Sorts")
    lines += ["", "## Precedence", "", "The strongest come first.", ""]
    lines += _table(
        ("operators", "how they group"),
        ((_operators(name, rules["formulas and terms"]), grouping) for name, grouping in PRECEDENCE),
    )
    lines += [
        "",
        "The body of `forall`, `exists`, `always`, `quiescent` and `acyclic` extends as far to the right as possible.",
    ]
    lines += _mistakes("Precedence")
    for title, notations in (
        ("What statements say", vocabulary.STATEMENT_FORMS),
        ("Connectives and quantifiers", vocabulary.CONNECTIVES),
        ("Atoms", vocabulary.ATOMS),
    ):
        lines += ["", f"## {title}", "", *_notations(notations), *_mistakes(title)]
    lines += ["", "## Relations", ""]
    lines += _table(
        ("relation", "of", "meaning"),
        (
            (f"`{_example(r.name, r.parameters)}`", _sorts(r.parameters), r.meaning)
            for r in vocabulary.RELATIONS.values()
        ),
    )
    lines += _mistakes("Relations")
    lines += ["", "## Logs", "", *_notations(vocabulary.LOG_TERMS), *_mistakes("Logs")]
    lines += ["", "## Functions", ""]
    lines += _table(
        ("function", "of", "is a", "meaning"),
        (
            (
                f"`{_example(f.name, f.parameters)}`",
                _sorts(f.parameters),
                f.result.value if f.result else "set of entities",
                f.meaning,
            )
            for f in vocabulary.FUNCTIONS.values()
        ),
    )
    lines += _mistakes("Functions")
    lines += ["", "## Numbers", "", *_notations(vocabulary.NUMBERS), "", *_units(), *_mistakes("Numbers")]
    lines += ["", "## Attributes", "", *_attributes(), *_mistakes("Attributes")]
    lines += ["", "## Words and symbols", ""]
    lines += ["Reserved: " + ", ".join(f"`{word}`" for word in vocabulary.KEYWORDS) + "."]
    lines += ["Inside logs also: " + ", ".join(f"`{word}`" for word in vocabulary.HISTORY_WORDS) + "."]
    lines += ["Write a message or an entity with such a name in quotation marks.", ""]
    lines += _table(("symbol", "read as the same"), _spellings())
    lines += ["", "## Predicates and services", ""]
    lines += ["They are defined in the language itself. [The library](library.md) has the definitions.", ""]
    known = standard_library()
    lines += _table(("name", "of", "meaning"), (_entry(known, name) for name in known.names()))
    lines += _mistakes("Predicates and services")
    return "\n".join(lines) + "\n"


def _table(header: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> list[str]:
    shown = [f"| {' | '.join(header)} |", "|" + "---|" * len(header)]
    return shown + ["| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in rows]


def _notations(notations: tuple[Notation, ...]) -> list[str]:
    return _table(("form", "also", "meaning"), ((f"`{n.form}`", n.unicode, n.meaning) for n in notations))


def _mistakes(part: str) -> list[str]:
    told = "; ".join(f"[{code}](codes.md#{code.lower()}) {_title(code)}" for code in CONCERNS.get(part, ()))
    return ["", f"Mistakes: {told}."] if told else []


def _title(code: str) -> str:
    """What a code is about, within a sentence."""
    title = codes()[code].title
    return title[0].lower() + title[1:]


def _example(name: str, parameters: tuple[Alternatives, ...]) -> str:
    """`sender(p)`, with a letter for each sort, as the meanings speak of it."""
    letters = [_LETTERS[allowed[0]] for allowed in parameters]
    letters = {("p", "p"): ["p", "q"], ("d", "d"): ["d", "e"]}.get(tuple(letters), letters)
    return f"{name}({', '.join(letters)})" if letters else name


def _sorts(parameters: Iterable[Alternatives]) -> str:
    return ", ".join(" or ".join(sort.value for sort in allowed) for allowed in parameters)


def _entry(known: Library, name: str) -> tuple[str, str, str]:
    definition = known.definition(name)
    signature = known.signature(name)
    assert signature is not None
    return f"[`{name}`](library.md#{anchor(name)})", _sorts(signature), definition.title or ""


def anchor(name: str) -> str:
    """Where the page of the library has a name."""
    return re.sub(r"[^\w-]", "", name.lower())


def _attributes() -> list[str]:
    known = standard_library()
    declared = [known.attribute(name) for name in known.attributes()]
    sorts = ", ".join(f"`{sort.value}`" for sort in AttributeSort)
    return [
        "`attribute NAME of message: SORT` declares what messages carry. A trace has it in a column of that name, a",
        f"scenario in brackets: `a{{2,3}}[key=k1, position=5]`. The sorts are {sorts}. The standard library declares:",
        "",
        *_table(
            ("attribute", "sort"),
            ((f"`{one.name}`", one.sort.value) for one in declared if one is not None),
        ),
    ]


def _units() -> list[str]:
    return _table(("unit", "nanoseconds"), ((f"`{u}`", f"{int(n):,}") for u, n in vocabulary.UNITS.items()))


def _spellings() -> list[tuple[str, str]]:
    """What has several spellings: the one of the grammar above, and the others."""
    spelled: dict[str, list[str]] = {}
    for word, terminal in (*vocabulary.KEYWORDS.items(), *vocabulary.SYMBOLS.items()):
        spelled.setdefault(terminal, []).append(word)
    return [
        (f"`{words[0]}`", " ".join(f"`{word}`" for word in words[1:]))
        for words in spelled.values()
        if len(words) > 1
    ]


# ---- the grammar -------------------------------------------------------------------------------------------

Rules = dict[str, list[str]]
"""The alternatives of each rule, as the grammar writes them."""


def grammar() -> dict[str, Rules]:
    """The rules of the grammar under its headings, without what only the parser needs."""
    text = (Path(vocabulary.__file__).with_name("parsing") / "grammar.lark").read_text(encoding="utf-8")
    text = re.sub(r"\n +\|", " |", text)
    parts: dict[str, Rules] = {}
    part: Rules = {}
    for line in text.splitlines():
        if heading := re.match(r"// ---- (.+)", line):
            part = parts.setdefault(next(known for known in PARTS if heading[1].startswith(known)), {})
        elif rule := re.match(r"[?!]?_?(\w+): (.+)", line):
            alternatives = [
                re.sub(r"\s*->.*", "", one).strip() for one in re.split(r" \| (?![^(]*\))", rule[2])
            ]
            part[rule[1]] = list(dict.fromkeys(alternatives))
    return parts


def _shown(name: str, alternatives: list[str]) -> str:
    """A rule of the grammar, as the page writes it."""
    spelled = [" ".join(re.sub(r"\b_?(\w+)", _spelled, one).split()) for one in alternatives]
    return f"{name} = " + ("\n" + " " * len(name) + " | ").join(spelled)


def _spelled(word: re.Match[str]) -> str:
    """A terminal as it is written; a rule by its name."""
    terminal = word[1]
    if terminal in _WRITTEN:
        return f"'{_WRITTEN[terminal]}'"
    return terminal


_WRITTEN: Final = {
    terminal: word
    for word, terminal in reversed(
        (*vocabulary.KEYWORDS.items(), *vocabulary.HISTORY_WORDS.items(), *vocabulary.SYMBOLS.items())
    )
} | {"OPEN": "<", "CLOSE": "]", "DENIED": "not", "GROUP": vocabulary.GROUP}
"""Each terminal as the vocabulary spells it first; the scanner tells apart what is spelled alike."""


def _operators(name: str, rules: Rules) -> str:
    """What stands between, before or behind the operands of a rule."""
    text = " ".join(rules[name]).replace("comparator", " ".join(rules["comparator"]))
    found = [word for word in re.findall(r"\b[A-Z_]+\b", text) if word != "RSQB"]
    return " ".join(f"`{_WRITTEN[word]}`" for word in dict.fromkeys(found))


PAGES = {"library.md": library, "profiles.md": promises, "codes.md": messages, "language.md": language}


def main() -> None:
    """Write them."""
    FOLDER.mkdir(exist_ok=True)
    for name, made in PAGES.items():
        (FOLDER / name).write_text(made(), encoding="utf-8")
        print(f"wrote docs/reference/{name}")


if __name__ == "__main__":
    main()
