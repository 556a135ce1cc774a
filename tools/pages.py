"""The pages of docs/reference that are made from the program: `python tools/pages.py`.

A test holds that they are current.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from precedes.codes import codes
from precedes.language.library import standard_library
from precedes.language.printing import statement_text
from precedes.language.syntax import DefinitionKind

FOLDER = Path(__file__).parent.parent / "docs/reference"

KINDS = {
    "U": "What was asked for",
    "I": "Internal",
    "P": "Text that does not parse",
    "N": "Names and sorts",
    "S": "Scenarios",
    "T": "Traces",
    "M": "Protocol models",
    "C": "Configuration",
    "G": "Rules of the gate",
}


def library() -> str:
    """Every predicate and service with its definition."""
    known = standard_library()
    lines = [
        "# Predicates and services",
        "",
        "What can be named after `expect`, `claim` and `--require`, with its definition. Generated from the library.",
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
            bare = replace(definition, title=None, source=None)
            lines += ["", "```", statement_text(bare), "```"]
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


PAGES = {"library.md": library, "codes.md": messages}


def main() -> None:
    """Write them."""
    FOLDER.mkdir(exist_ok=True)
    for name, made in PAGES.items():
        (FOLDER / name).write_text(made(), encoding="utf-8")
        print(f"wrote docs/reference/{name}")


if __name__ == "__main__":
    main()
