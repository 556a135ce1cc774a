"""Ids in what the command prints: every form of every report is printable, well formed, and has ids that read back."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
import yaml
from markdown_it import MarkdownIt

import precedes as package
from precedes.gate.outputs import FORMATS
from precedes.language.loader import compile_text
from precedes.language.quoting import quoted, written
from tests.command.running import Ended, precedes
from tests.reports.hostile import HOSTILE

REQUIRED = ("ST", "causal_order", "no_duplication", "no_creation", "agreement", "prefix_order")
LINE = re.compile(r"(?:cluster |(?:RL|SL|H)(?:\d+|\[.*\]): <)")


def rows() -> Iterator[dict[str, object]]:
    """Executions that violate all that is required; in each a hostile id is an entity and another one a message."""
    for number, name in enumerate(HOSTILE):
        other = HOSTILE[(number + 7) % len(HOSTILE)]
        entities, messages = ("A", name, "C"), (other, "b")
        to = list(entities[1:])
        events = [
            (0, "send", messages[0]),
            (0, "send", messages[1]),
            (1, "deliver", messages[0]),
            (1, "deliver", messages[1]),
            (2, "deliver", messages[1]),
            (2, "deliver", messages[0]),
            (2, "deliver", messages[0]),
            (2, "deliver", f"{other}?"),
        ]
        for seq, (place, event, message) in enumerate(events):
            row = {"execution": f"{name}-{number}", "entity": entities[place], "seq": seq, "event": event}
            yield row | {"message": message} | ({"dest": to} if event == "send" else {})


IDS = {*HOSTILE, *(f"{name}?" for name in HOSTILE), "A", "C", "b"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project with one trace and one file of scenarios, all of it violated."""
    folder = tmp_path_factory.mktemp("ids")
    trace = "".join(json.dumps(row) + "\n" for row in rows())
    (folder / "t.jsonl").write_text(trace, encoding="utf-8")
    (folder / "s.prec").write_text("".join(map(scenario, range(len(HOSTILE)))), encoding="utf-8")
    required = "".join(
        f'[[verify]]\nfiles = ["one-{number}.jsonl"]\nrequire = {json.dumps(REQUIRED)}\n'
        for number in range(0, len(HOSTILE), 9)
    )
    (folder / "precedes.toml").write_text('[[check]]\nfiles = ["s.prec"]\n' + required, encoding="utf-8")
    lines = trace.splitlines(keepends=True)
    for number in range(0, len(HOSTILE), 9):
        (folder / f"one-{number}.jsonl").write_text(
            "".join(lines[8 * number : 8 * number + 8]), encoding="utf-8"
        )
    return folder


def scenario(number: int) -> str:
    """A scenario with hostile names that does not come out as it states."""
    one, two = HOSTILE[number], HOSTILE[(number + 5) % len(HOSTILE)]
    return (
        f"scenario s{number} {quoted(one)}\ncluster A {quoted(one)} C\n"
        f"SL1: < {written(two)}{{2,3}} b{{2,3}} ]\nRL2: < {written(two)} b ]\nRL3: < b {written(two)} ]\nexpect ST\n"
    )


@pytest.fixture(scope="module")
def verified(folder: Path) -> dict[str, Ended]:
    """What `verify` prints, by form."""
    required = [argument for name in REQUIRED for argument in ("--require", name)]
    arguments = ["verify", folder / "t.jsonl", *required, "--max-violations", 2000]
    return {
        form: precedes(*arguments, "--format", form, "--out", folder / "out") for form in ("text", "json")
    }


@pytest.fixture(scope="module")
def gated(folder: Path) -> dict[str, str]:
    """What the gate writes, by form."""
    outputs = [argument for form in FORMATS for argument in ("--output", f"{form}:{folder / form}")]
    ended = precedes("gate", "--config", folder / "precedes.toml", "--no-cache", *outputs)
    assert (ended.code, ended.err) == (1, "")
    assert is_printable(ended.out)
    return {form: (folder / form).read_text(encoding="utf-8") for form in FORMATS}


def is_printable(text: str) -> bool:
    """Lines of characters that a terminal only shows."""
    return all(line.isprintable() for line in text.split("\n"))


def figures(text: str) -> Iterator[str]:
    """The figures in a text: lines one below the other that are the language's, without their indentation."""
    drawn: list[str] = []
    for line in [*(line.strip() for line in text.split("\n")), ""]:
        if LINE.match(line) or (drawn and re.fullmatch(r"#[ ^]+", line)):
            drawn.append(line)
        elif drawn:
            yield "\n".join(drawn)
            drawn = []


def assert_figures_read_back(texts: Sequence[str], least: int) -> None:
    """That the figures are scenarios of ids that the trace has, of as many different ones as are said."""
    met: set[str] = set()
    for figure in (figure for text in texts for figure in figures(text)):
        compiled = compile_text(f"scenario s\n{figure}\n").scenarios[0].execution
        found = {*compiled.entities, *compiled.messages}
        assert found <= IDS
        met |= found
    assert len(met) >= least


def test_verify_in_text(verified: dict[str, Ended]) -> None:
    ended = verified["text"]
    assert (ended.code, ended.err) == (1, "")
    assert is_printable(ended.out)
    assert_figures_read_back([ended.out], len(HOSTILE))


def test_verify_in_json(verified: dict[str, Ended]) -> None:
    out = verified["json"].out
    assert is_printable(out)
    violations = json.loads(out)["violations"]
    assert len(violations) > len(HOSTILE)
    assert {value for one in violations for value in one["bindings"].values()} <= IDS
    assert_figures_read_back([one["figure"] for one in violations], len(HOSTILE))
    assert all(is_printable(one["explanation"]) and one["explanation"] for one in violations)


def test_check_and_draw(folder: Path) -> None:
    checked = precedes("check", folder / "s.prec")
    assert (checked.code, checked.err) == (1, "")
    assert is_printable(checked.out)
    assert_figures_read_back([checked.out], len(HOSTILE))
    as_json = precedes("check", folder / "s.prec", "--format", "json").out
    assert is_printable(as_json)
    assert json.loads(as_json)["files"]
    drawn = precedes("draw", folder / "s.prec")
    assert (drawn.code, is_printable(drawn.out)) == (0, True)
    assert precedes("draw", folder / "s.prec", "-o", f"{folder}/drawn/").code == 0
    pictures = sorted((folder / "drawn").glob("*.svg"))
    assert len(pictures) == len(HOSTILE)
    for picture in pictures:
        text = picture.read_text(encoding="utf-8")
        assert is_printable(text)
        ET.fromstring(text)


def test_the_gate_in_text(gated: dict[str, str]) -> None:
    assert is_printable(gated["text"])
    assert_figures_read_back([gated["text"]], 100)


def test_the_gate_in_json(gated: dict[str, str]) -> None:
    assert is_printable(gated["json"])
    items = json.loads(gated["json"])["items"]
    found = [item for item in items if item["scenario"]]
    for item in found:
        (there,) = compile_text(item["scenario"]).scenarios
        assert {event["entity"] for event in item["events"]} <= set(there.execution.entities)
        assert {*there.execution.entities, *there.execution.messages} <= IDS
    assert len(found) > 100


def test_the_gate_for_readers_of_json(gated: dict[str, str]) -> None:
    for form in ("sarif", "gitlab"):
        assert is_printable(gated[form])
    (run,) = json.loads(gated["sarif"])["runs"]
    assert_figures_read_back([result["message"]["text"] for result in run["results"]], 100)
    assert len(json.loads(gated["gitlab"])) == len(run["results"])


def test_the_gate_in_junit(gated: dict[str, str]) -> None:
    assert is_printable(gated["junit"])
    failures = [failure.text or "" for failure in ET.fromstring(gated["junit"]).iter("failure")]
    assert_figures_read_back(failures, 100)


def test_the_gate_on_github(gated: dict[str, str]) -> None:
    assert is_printable(gated["github"])
    *commands, _, _ = gated["github"].splitlines()
    assert commands
    assert all(
        re.match(r"::(error|warning|notice) file=[^,:]+,line=\d+,title=[^:,]+::", line) for line in commands
    )
    texts = [re.split("::", line, maxsplit=2)[2] for line in commands]
    decoded = [text.replace("%0A", "\n").replace("%0D", "\r").replace("%25", "%") for text in texts]
    assert_figures_read_back(decoded, 10)


def test_the_gate_in_markdown(gated: dict[str, str]) -> None:
    assert is_printable(gated["github-summary"])
    tokens = MarkdownIt("gfm-like", {"linkify": False}).parse(gated["github-summary"])
    assert_figures_read_back([token.content for token in tokens if token.type == "fence"], 100)
    kinds = {child.type for token in tokens if token.type == "inline" for child in token.children or ()}
    assert kinds <= {"text", "code_inline"}
    tags = {tag for t in tokens if t.type == "html_block" for tag in re.findall(r"<(/?\w+)", t.content)}
    assert tags <= {"details", "summary", "/summary", "/details"}


def test_the_gate_in_tap(gated: dict[str, str]) -> None:
    assert is_printable(gated["tap"])
    lines = gated["tap"].splitlines()
    points = [line for line in lines if re.match(r"(not )?ok \d+ - ", line)]
    assert lines[1] == f"1..{len(points)}"
    blocks = re.findall(r"^  ---\n(.*?)^  \.\.\.\n", gated["tap"], re.DOTALL | re.MULTILINE)
    read = [yaml.safe_load(block) for block in blocks]
    assert_figures_read_back([block.get("figure", "") for block in read], 100)


class Page(HTMLParser):
    """The tags of a page, and its text."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)

    def handle_data(self, data: str) -> None:
        self.text += data


def test_the_gate_in_html(gated: dict[str, str]) -> None:
    assert is_printable(gated["html"])
    page = Page()
    page.feed(gated["html"])
    assert_figures_read_back([page.text], 100)
    assert gated["html"].count("<script") == 1
    assert page.tags <= {
        *("form", "label", "input", "select", "option", "output", "kbd", "script"),
        *(
            "html",
            "head",
            "meta",
            "title",
            "style",
            "body",
            "h1",
            "h2",
            "span",
            "p",
            "article",
            "strong",
            "code",
        ),
        *(
            "pre",
            "figure",
            "svg",
            "rect",
            "text",
            "line",
            "path",
            "circle",
            "g",
            "ul",
            "li",
            "details",
            "summary",
        ),
    }


def test_contradictions_and_places_are_printable(tmp_path: Path) -> None:
    for number, name in enumerate(HOSTILE):
        row = {"execution": name, "entity": name, "seq": 0, "event": "send", "message": name, "dest": [name]}
        other = {**row, "entity": f"{name}!", "dest": []}
        path = tmp_path / f"{number}.jsonl"
        path.write_text("".join(json.dumps(one) + "\n" for one in (row, other)), encoding="utf-8")
    ended = precedes("verify", tmp_path, "--require", "ST")
    assert (ended.code, is_printable(ended.out)) == (3, True)
    strict = precedes("verify", tmp_path, "--require", "ST", "--strict")
    assert (strict.code, is_printable(strict.err)) == (2, True)


@pytest.mark.parametrize("name", HOSTILE, ids=lambda name: ascii(name)[:20])
def test_what_an_argument_holds_is_printable(name: str) -> None:
    if "\0" not in name:
        for arguments in (("explain", name), ("check", name), (name,), ("verify", name, "--require", name)):
            ended = precedes(*arguments)
            assert is_printable(ended.out + ended.err)
            assert "internal error" not in ended.err


@pytest.mark.parametrize("name", ["order 1", '"', "\x1b[31m", "\n", "\u202e", "x" * 200], ids=ascii)
def test_what_search_finds_is_a_scenario_of_the_names_asked_for(name: str) -> None:
    log = f"[{quoted(name)}]"
    ended = precedes("search", f"exists p in RL{log}: exists q in SL{log}: p <[RL{log}] q")
    assert (ended.code, is_printable(ended.out)) == (0, True)
    (found,) = compile_text(ended.out).scenarios
    assert name in found.execution.entities


def test_commands_print_through_one_door() -> None:
    folder = Path(package.__file__).parent
    printing = re.compile(r"\b(?:click\.echo|print|sys\.stdout\.write|sys\.stderr\.write)\(")
    found = {
        path.relative_to(folder).as_posix()
        for path in folder.rglob("*.py")
        if printing.search(
            re.sub(r'""".*?"""|#[^\n]*', "", path.read_text(encoding="utf-8"), flags=re.DOTALL)
        )
    }
    # How far a run is goes to the terminal while it runs, through the same function. The conformance kit is a program
    # of its own, whose cases are made from numbers.
    assert found == {"cli/terminal.py", "reports/progress.py", "testing/__main__.py"}
    assert "print(printable(text)" in (folder / "reports/progress.py").read_text(encoding="utf-8")
