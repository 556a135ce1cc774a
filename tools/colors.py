"""The colors of the language for editors: `python -m tools.colors` writes the grammar that VS Code and others read.

It is made from the words of the language, so that an editor and the parser know the same ones. A test holds that
the file is current.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final

from precedes.language.syntax import LogKind, Sort
from precedes.language.vocabulary import (
    EVERY,
    FUNCTIONS,
    GROUP,
    HISTORY_WORDS,
    KEYWORDS,
    RELATIONS,
    STATEMENTS,
    SYMBOLS,
    UNITS,
)

FILE: Final = Path(__file__).parent.parent / "editors/vscode/syntaxes/precedes.tmLanguage.json"

_CONSTANTS: Final = ("TRUE", "FALSE", "UNDETERMINED")
_HEADED: Final = ("SOURCE", "AMONG", "WITH", "UNKNOWN")
"""Words inside a statement that are no part of a formula."""
_PUNCTUATION: Final = frozenset(
    ("COLON", "COMMA", "LPAR", "RPAR", "LSQB", "RSQB", "LBRACE", "RBRACE", "LESC", "RESC")
)
_HEAD: Final = r"(?:[SR]L[0-9]+|H[0-9]+|(?:[SR]L|H)\[[^\]\n]*\])"
_NAME: Final = r'"(?:[^"\\]|\\.)*"|\w+'


def grammar() -> dict[str, Any]:
    """The grammar as TextMate writes it. Its expressions mean the same to Oniguruma and to Python."""
    statements = [word for word, kind in KEYWORDS.items() if kind in STATEMENTS]
    constants = [word for word, kind in KEYWORDS.items() if kind in _CONSTANTS]
    headed = [word for word, kind in KEYWORDS.items() if kind in _HEADED]
    logical = [word for word in KEYWORDS if word not in (*statements, *constants, *headed)]
    logs = [kind.value for kind in LogKind if kind is not LogKind.H]
    repository = {
        "comment": _match("comment.line.number-sign", "#.*$"),
        "quotation": {
            "name": _scope("string.quoted.double"),
            "begin": '"',
            "end": r'"|$',
            "patterns": [_match("constant.character.escape", r"\\(?:u\{[0-9A-Fa-f]{1,6}\}|.)")],
        },
        "scenario": _captures(rf"\b(scenario)\s+({_NAME})", "keyword.control", "entity.name.section"),
        "definition": _captures(
            rf"\b(predicate|service)\s+({_NAME})", "keyword.control", "entity.name.function"
        ),
        "attribute": _captures(
            rf"\b(attribute)\s+(\w+)\s+(of)\s+(message|event)\s*:\s*({_any(sort.value for sort in Sort)})\b",
            *(
                "keyword.control",
                "variable.other.property",
                "keyword.control",
                "storage.type",
                "storage.type",
            ),
        ),
        "group": _captures(rf"\b({GROUP})(?=\s+(?:{_NAME})\s*:)", "keyword.control"),
        "log": {
            "begin": rf"({_HEAD})\s*(:)\s*(<)",
            "end": r"\]",
            "beginCaptures": {
                "1": {"name": _scope("entity.name.tag")},
                "3": {"name": _scope("punctuation.section")},
            },
            "endCaptures": {"0": {"name": _scope("punctuation.section")}},
            "patterns": [
                {"include": "#comment"},
                {"include": "#quotation"},
                {
                    "begin": r"\[",
                    "end": r"\]",
                    "patterns": [
                        {"include": "#quotation"},
                        _captures(r"(\w+)\s*=", "variable.other.property"),
                        {"include": "#number"},
                    ],
                },
                _match("keyword.other", rf"\b(?:{_any(HISTORY_WORDS)})\b"),
                _captures(rf"\b({GROUP})(?=:)", "keyword.other"),
                {"include": "#number"},
                {"include": "#sign"},
            ],
        },
        "statement": _match("keyword.control", _words((*statements, *headed))),
        "constant": _match("constant.language", _words(constants)),
        "logical": _match("keyword.operator.word", _words(logical)),
        "sort": _captures(rf"(?<=:)\s*({_any(sort.value for sort in Sort)})\b(?=\s*[,)])", "storage.type"),
        "function": _match("support.function", rf"\b(?:{_any((*FUNCTIONS, *RELATIONS))})(?=\()"),
        "every": _match("support.constant", rf"(?<=\bin )(?:{_any(EVERY)})\b"),
        "receipts": _match("support.class", rf"\b(?:{_any(logs)})(?:[0-9]+\b|(?=\[))"),
        "number": _match("constant.numeric", rf"\b[0-9]+(?:\.[0-9]+)?(?:{_any(UNITS)})?\b"),
        "sign": _match(
            "keyword.operator",
            "|".join(re.escape(one) for one in _longest_first(_signs())),
        ),
    }
    return {
        "$schema": "https://json.schemastore.org/tmlanguage.json",
        "information_for_contributors": ["made by `python -m tools.colors` from the words of the language"],
        "name": "precedes",
        "scopeName": "source.precedes",
        "fileTypes": ["prec"],
        "patterns": [{"include": f"#{name}"} for name in repository],
        "repository": repository,
    }


def _signs() -> list[str]:
    return [sign for sign, kind in SYMBOLS.items() if kind not in _PUNCTUATION]


def _scope(name: str) -> str:
    return f"{name}.precedes"


def _match(name: str, expression: str) -> dict[str, Any]:
    return {"name": _scope(name), "match": expression}


def _captures(expression: str, *names: str) -> dict[str, Any]:
    captures = {str(number): {"name": _scope(name)} for number, name in enumerate(names, start=1)}
    return {"match": expression, "captures": captures}


def _words(words: Iterable[str]) -> str:
    return rf"\b(?:{_any(words)})\b"


def _any(words: Iterable[str]) -> str:
    return "|".join(re.escape(word) for word in _longest_first(words))


def _longest_first(words: Iterable[str]) -> list[str]:
    return sorted(words, key=lambda word: (-len(word), word))


def text() -> str:
    """The file as it is kept."""
    return json.dumps(grammar(), ensure_ascii=False, indent=2) + "\n"


def main() -> None:
    """Write the file."""
    FILE.parent.mkdir(parents=True, exist_ok=True)
    FILE.write_text(text(), encoding="utf-8")
    print(f"wrote {FILE.relative_to(Path.cwd())}")


if __name__ == "__main__":
    main()
