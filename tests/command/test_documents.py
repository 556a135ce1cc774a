"""Everything that README.md and docs/ show in a fence runs as shown, and what they name in their text exists."""

from __future__ import annotations

import ast
import contextlib
import io
import re
import runpy
import shlex
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

import click
import pytest
import yaml

from precedes.cli.main import cli
from precedes.core.error_codes import codes
from precedes.core.verdict import REASON_TEXT
from precedes.gate.config import load, schema
from precedes.language.library import standard_library
from precedes.language.requirements import requirement
from tests.command.documents import (
    MARKS,
    ROOT,
    Block,
    File,
    Run,
    blocks,
    carry_out,
    commands,
    documents,
    prose,
    run,
    steps,
)
from tests.command.running import precedes

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ALL = documents()
BLOCKS = [block for path in ALL for block in blocks(path)]
RUNNING = [path for path in ALL if any(isinstance(step, Run) for step in steps(path))]
SPARK = "docs/how-to/spark-cluster.md"
ON_SPARK = (SPARK, "docs/how-to/spark-logs.md")
SUBMITTED = "docs/how-to/daily-job.md"
"""Its programs are jobs of their own, which tests/spark/test_submitted.py runs."""


OF_OTHERS = (
    "a command of another system",
    "a program of another system",
    "a piece of another log",
    "a line of a mapping",
    "a program with a broker, which tests/brokers runs",
)


def marked(mark: str) -> list[Block]:
    """The blocks with a mark."""
    return [block for block in BLOCKS if block.mark == mark]


def name_of(path: Path) -> str:
    """A document's name from the root."""
    return path.relative_to(ROOT).as_posix()


# ---- blocks


def test_every_block_is_run_or_says_why_not() -> None:
    assert len(BLOCKS) > 60
    assert {str(block) for block in BLOCKS if block.mark not in MARKS} == set()
    assert {str(block) for block in marked("not run") if len(block.value.split()) < 3} == set()


def test_what_is_not_run_is_little() -> None:
    """A reason is easily written; so what is not run is named here, too, but for what belongs to other systems."""
    ours = [block for block in marked("not run") if block.value not in OF_OTHERS]
    assert [(block.document, block.body.split("\n")[0].split("  ")[0]) for block in ours] == [
        ("README.md", "$ make demo"),
        ("README.md", "from precedes.spark import verify"),
        ("docs/contributing/index.md", "$ make setup"),
        ("docs/gate.md", "[[verify]]"),
        (
            SUBMITTED,
            "$ spark-submit --py-files precedes.zip daily_job.py hdfs:///events hdfs:///verdicts /srv/precedes.prom",
        ),
        (SUBMITTED, "from opentelemetry.metrics import get_meter_provider"),
        ("docs/how-to/live.md", "$ tail -f orders.jsonl | precedes watch - --require order_equivalent"),
        ("docs/how-to/live.md", "from pyspark.sql import SparkSession"),
        (SPARK, "$ cp precedes-0.1.0-py3-none-any.whl precedes.zip"),
        (
            SPARK,
            "$ precedes verify /mnt/traces/*.parquet --require ST --master spark://host:7077 --out verdicts",
        ),
        (SPARK, "from pyspark.sql import SparkSession"),
        ("docs/index.md", "$ pip install ."),
    ]


@pytest.mark.parametrize("document", ALL, ids=name_of)
def test_no_block_is_indented(document: Path) -> None:
    assert re.findall(r"(?<=\n)\n(?: {4}|\t)(?! *[-*\d]).*", prose(document)) == []


LONG = frozenset(
    {
        "docs/models/to.md",
        "docs/models/dynamic-cluster.md",
        "docs/models/delta-causal.md",
        "docs/how-to/compare-releases.md",
        "docs/how-to/run-a-model.md",
    }
)
"""Documents whose simulations take long: what they say of exploring is tested row by row (tests/papers). One that
infers four times, which test_drift.py does on small traces. And one that starts many processes, which
test_running_in_processes.py does once."""


@pytest.mark.parametrize(
    "document",
    [
        pytest.param(path, id=name_of(path), marks=[pytest.mark.slow] if name_of(path) in LONG else [])
        for path in RUNNING
        if name_of(path) not in (*ON_SPARK, SUBMITTED)
    ],
)
def test_the_commands_of_a_document(document: Path, tmp_path: Path) -> None:
    carry_out(document, tmp_path, run)


@pytest.mark.parametrize("document", ON_SPARK)
def test_the_programs_for_spark(spark: SparkSession, tmp_path: Path, document: str) -> None:
    """In the session of the tests, which is the one that the program gets; it looks for files where it was started."""
    carry_out(ROOT / document, tmp_path, run_here)


def run_here(one: Run, folder: Path) -> tuple[int, str]:
    """As `run`, for a Python program and in this process."""
    program, path = shlex.split(one.command)
    assert program == "python"
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        runpy.run_path(str(folder / path), run_name="__main__")
    return 0, out.getvalue()


def test_formulas_can_be_asked() -> None:
    found = [line for block in marked("formulas") for line in block.body.splitlines() if line]
    assert len(found) >= 10
    for line in found:
        requirement(line.partition("#")[0].strip(), standard_library())


def test_a_workflow_uses_what_the_action_has() -> None:
    action = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
    found = marked("workflow")
    assert found
    for block in found:
        ours = [step for step in yaml.safe_load(block.body) if "/precedes@" in step.get("uses", "")]
        assert ours, block
        for step in ours:
            assert set(step.get("with", {})) <= set(action["inputs"])
            used = re.findall(rf"steps\.{step['id']}\.outputs\.([\w-]+)", block.body)
            assert used
            assert set(used) <= set(action["outputs"])


# ---- what is named


SYSTEM = ("cp", "pip", "spark-submit", "tail")
"""Commands of others in blocks that are run elsewhere."""


def test_what_cannot_be_run_names_what_exists(tmp_path: Path) -> None:
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    for block in marked("not run"):
        if block.value in OF_OTHERS:
            continue
        if block.language == "python":
            imported(block)
            continue
        if block.language == "toml":
            (tmp_path / "precedes.toml").write_text(f"{block.body}\n", encoding="utf-8")
            load(tmp_path / "precedes.toml")
            continue
        for command, _ in commands(block):
            words = shlex.split(command, comments=True)
            if words[0] == "make":
                assert set(words[1:]) <= targets, block
            elif words[0] not in SYSTEM:
                assert unknown_in(words) == [], block


def imported(block: Block) -> None:
    """Import what a program imports."""
    for node in ast.walk(ast.parse(block.body)):
        if isinstance(node, ast.ImportFrom):
            module = import_module(str(node.module))
            assert all(hasattr(module, alias.name) for alias in node.names), block


def options(command: click.Command) -> set[str]:
    """The options of a command."""
    return {option for parameter in command.params for option in parameter.opts} | {"--help"}


EVERY_OPTION = {option for command in cli.commands.values() for option in options(command)}


def unknown_in(words: list[str]) -> list[str]:
    """What of the words of a command `precedes` does not have."""
    assert words[0] == "precedes", words
    if words[1:] in ([], ["--help"], ["--version"]):
        return []
    command = cli.commands.get(words[1])
    if command is None:
        return [words[1]]
    # A hyphen alone is standard input.
    given = [word for word in words[2:] if word.startswith("-") and word != "-"]
    return [word for word in given if word.split("=")[0] not in options(command)]


def spoken(pattern: str) -> Iterator[tuple[str, str]]:
    """What stands between backquotes in a text and matches, with the name of the document."""
    for path in ALL:
        for code in re.findall(r"`([^`\n]+)`", prose(path)):
            if re.fullmatch(pattern, code):
                yield name_of(path), code


def test_commands_in_the_text_exist() -> None:
    found = list(spoken(r"precedes [a-z].*"))
    assert len(found) > 20
    assert [(name, code) for name, code in found if unknown_in(shlex.split(code))] == []


def test_every_command_is_shown() -> None:
    told = {
        word for path in ALL for word in re.findall(r"(?<=precedes )[a-z]+", path.read_text(encoding="utf-8"))
    }
    assert set(cli.commands) <= told


def test_options_in_the_text_exist() -> None:
    found = list(spoken(r"--[a-z].*"))
    assert len(found) > 30
    assert [(name, code) for name, code in found if code.split()[0] not in EVERY_OPTION] == []


@pytest.mark.parametrize("name", cli.commands)
def test_help_names_options_that_there_are(name: str) -> None:
    """Of the command itself, but in a whole command."""
    command = cli.commands[name]
    said = "\n".join(
        (command.help or "", *(getattr(one, "help", None) or "" for one in command.params))
    ).replace("\n", " ")
    whole = re.findall(r"`(?:[^`]*\| )?(precedes [^`]+)`", said)
    assert [one for one in whole if unknown_in(shlex.split(one))] == []
    rest = re.sub(r"`[^`]*precedes [^`]+`", "", said)
    assert set(re.findall(r"(?<![\w-])--[a-z-]+", rest)) <= options(command)


def test_codes_in_the_text_exist() -> None:
    found = [
        (name_of(path), code) for path in ALL for code in re.findall(r"\b[TGMNPSUCI]\d{3}\b", prose(path))
    ]
    assert len(found) > 30
    assert [(name, code) for name, code in found if code not in codes()] == []


def test_files_in_the_text_exist() -> None:
    found = list(
        spoken(r"(?:checker|models|specs|tests|tools|templates|requirements|benchmarks|docs)/[\w./-]+")
    )
    assert len(found) > 5
    assert [(name, code) for name, code in found if not (ROOT / code).exists()] == []


def test_links_lead_somewhere() -> None:
    """Those of the site are checked where it is built; README.md is not part of it."""
    links = re.findall(r"\]\((?!https?:)([^)#]+)", (ROOT / "README.md").read_text(encoding="utf-8"))
    assert len(links) > 5
    assert [link for link in links if not (ROOT / link).exists()] == []


def test_the_page_on_answers_says_what_to_do_about_every_reason() -> None:
    text = (ROOT / "docs/theory.md").read_text(encoding="utf-8")
    assert [reason for reason in REASON_TEXT.values() if f"| {reason} |" not in text] == []


def test_the_page_of_the_gate_has_every_key() -> None:
    text = (ROOT / "docs/gate.md").read_text(encoding="utf-8")
    keys = {key for key in keys_of(schema()) if not key.startswith("$")}
    assert len(keys) > 40
    assert {
        key
        for key in keys
        if f"`{key}`" not in text and f"`[[{key}]]`" not in text and f"`[{key}]`" not in text
    } == set()


def keys_of(part: object) -> Iterator[str]:
    """The names of all properties in a JSON schema."""
    if isinstance(part, dict):
        properties = part.get("properties")
        yield from properties if isinstance(properties, dict) else ()
        for inner in part.values():
            yield from keys_of(inner)
    elif isinstance(part, list):
        for inner in part:
            yield from keys_of(inner)


PICTURE = re.compile(r"(?:!\[[^\]]*\]\(|src=\")(?P<path>[^)\"]*figures/(?P<name>[\w-]+)\.svg)")


@pytest.mark.parametrize("document", ["README.md", "docs/index.md"])
def test_a_picture_is_of_the_file_that_stands_above_it(document: str, tmp_path: Path) -> None:
    """`precedes draw NAME.prec -o docs/figures/NAME.svg` renews it, with the document's file of that name."""
    pictures = list(PICTURE.finditer((ROOT / document).read_text(encoding="utf-8")))
    assert pictures
    for picture in pictures:
        name = picture["name"]
        (figure,) = (
            step.text
            for step in steps(ROOT / document)
            if isinstance(step, File) and step.name == f"{name}.prec"
        )
        (tmp_path / f"{name}.prec").write_text(figure, encoding="utf-8")
        assert precedes("draw", tmp_path / f"{name}.prec", "-o", tmp_path / f"{name}.svg").code == 0
        drawn = (tmp_path / f"{name}.svg").read_text(encoding="utf-8")
        assert drawn == (ROOT / document).parent.joinpath(picture["path"]).read_text(encoding="utf-8")


def test_the_site_can_be_searched_from_a_folder() -> None:
    """The index is a script as well, and what stands in for the worker is ours: nothing is fetched from elsewhere."""
    site = yaml.safe_load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"))
    assert {"search", "offline"} <= {each for each in site["plugins"] if isinstance(each, str)}
    (script,) = site["extra"]["polyfills"]
    assert "iframe-worker" in script, "by this the plugin knows that it is there"
    assert "://" not in (ROOT / "docs" / script).read_text(encoding="utf-8")
