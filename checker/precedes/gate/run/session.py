"""`precedes gate` from its arguments to its outputs."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass
from pathlib import Path

import msgspec

from precedes.core.diagnostics import Diagnostic, usage
from precedes.core.exit_codes import Exit
from precedes.core.outcome import VERDICTS
from precedes.core.printable import printable
from precedes.gate.cache import Cache
from precedes.gate.config import Configuration, find, load, schema
from precedes.gate.findings import Summary
from precedes.gate.outputs import FORMATS, renderer
from precedes.gate.outputs.text import closing, coloured
from precedes.gate.run import baseline as baselines
from precedes.gate.run.runner import run as carry_out
from precedes.reports.progress import progress_line

IN_REPOSITORY = frozenset({"sarif", "github", "gitlab"})
"""Forms whose readers look for files from the root of the repository."""
OF_LINES = frozenset({"text", "github"})
"""Forms that may lack something: who reads another one takes what is not in it for what was not found."""


@dataclass(frozen=True, slots=True)
class Request:
    """The arguments of one call."""

    config: str | None = None
    form: str | None = None
    outputs: Sequence[str] = ()
    baseline: str | None = None
    write_baseline: bool = False
    accept: Sequence[str] = ()
    no_cache: bool = False
    jobs: int | None = None
    quiet: bool = False
    verbose: bool = False
    show_config: bool = False
    schema: str | None = None


@dataclass(frozen=True, slots=True)
class Told:
    """What goes to standard output, and the exit code."""

    text: str
    exit: Exit
    colour: bool | None = None
    """Whether it has colors; None: it has none, and a terminal may do what it wants."""
    mistakes: tuple[Diagnostic, ...] = ()
    """Why checks could not run."""


def run(request: Request, folder: Path, environment: Mapping[str, str]) -> Told:
    """Carry out one call in a folder. In GitHub's and GitLab's pipelines, what they read is written by itself."""
    if request.schema is not None:
        from precedes.gate.outputs import json_object

        document = schema() if request.schema == "config" else json_object.schema()
        return Told(_indented(document), Exit.HOLDS)
    # As a user would write it: paths in messages are relative to where they are.
    path = Path(os.path.relpath(find(folder), folder)) if request.config is None else Path(request.config)
    configuration = load(path)
    if request.jobs is not None:
        configuration = msgspec.structs.replace(configuration, jobs=request.jobs)
    if request.show_config:
        return Told(_indented({"file": str(path), **msgspec.to_builtins(configuration)}), Exit.HOLDS)
    targets = _targets(request.outputs)
    summary = _carried_out(configuration, path, request)
    in_repository = summary.below(_repository_prefix(path.parent))
    form = request.form or ("github" if environment.get("GITHUB_ACTIONS") == "true" else "text")
    told = _told(in_repository if form in IN_REPOSITORY else summary, form, request, environment)
    if summary.mistakes:
        return told
    for written, target in targets:
        _write(target, renderer(written)(in_repository if written in IN_REPOSITORY else summary))
    if environment.get("GITHUB_STEP_SUMMARY"):
        with Path(environment["GITHUB_STEP_SUMMARY"]).open("a", encoding="utf-8") as file:
            file.write(renderer("github-summary")(summary))
    return told


def _told(summary: Summary, form: str, request: Request, environment: Mapping[str, str]) -> Told:
    """The summary in a form. Where checks could not run, it is about the others, and not in every form."""
    colour = form == "text" and _colour(environment)
    text = ""
    if not summary.mistakes or (form in OF_LINES and summary.checks):
        text = printable(_shown(summary, form, request))
    exit_ = Exit.COULD_NOT_RUN if summary.mistakes else Exit.of(VERDICTS[summary.outcome])
    return Told(coloured(text) if colour else text, exit_, colour, summary.mistakes)


def _colour(environment: Mapping[str, str]) -> bool:
    """As https://no-color.org and https://force-color.org have it."""
    if environment.get("NO_COLOR"):
        return False
    return bool(environment.get("FORCE_COLOR")) or (sys.stdout.isatty() and environment.get("TERM") != "dumb")


def _carried_out(configuration: Configuration, path: Path, request: Request) -> Summary:
    kept = configuration.cache
    folder = None if request.no_cache or not kept else path.parent / kept
    cache = Cache(folder, _repository(path.parent))
    name = request.baseline or configuration.baseline
    file = None if name is None else (Path(name) if request.baseline else path.parent / name)
    if request.write_baseline and file is None:
        raise usage(
            "--write-baseline needs the name of a baseline",
            'say where: baseline = "precedes-baseline.json", or --baseline',
        )
    before = None if file is None or request.write_baseline else baselines.read(file)
    # What a model prints is not for who reads the report.
    with progress_line() as tell, redirect_stdout(sys.stderr):
        summary = carry_out(configuration, path, before, request.accept, cache, tell)
    if request.write_baseline and file is not None and not summary.mistakes:
        baselines.write(baselines.baseline_of(summary.items, summary.scopes, configuration), file)
    return summary


def _shown(summary: Summary, form: str, request: Request) -> str:
    if form != "text":
        return renderer(form)(summary)
    if request.quiet:
        return closing(summary) + "\n"
    passed = ""
    if request.verbose:
        names = (judged.item.name for judged in summary.judged if judged.item.result == "passed")
        passed = "".join(f"passed: {name}\n" for name in names)
    return passed + renderer("text")(summary)


def _targets(texts: Sequence[str]) -> list[tuple[str, Path]]:
    """What is to be written where; PrecedesError for what cannot be, before anything is carried out."""
    found: list[tuple[str, Path]] = []
    for text in texts:
        form, colon, path = text.partition(":")
        if form not in FORMATS or not colon or not path:
            raise usage(f"--output {text} is not FORMAT:PATH", f"formats: {', '.join(FORMATS)}")
        if path == "-":
            raise usage(f"--output {text} names no file", f"--format {form} writes to standard output")
        if Path(path).resolve() in [target.resolve() for _, target in found]:
            raise usage(f"--output {text} would write over another output", "give each a file of its own")
        found.append((form, Path(path)))
    return found


def _repository_prefix(folder: Path) -> str:
    """From the root of the version control around a folder to it; empty where there is none."""
    here, root = folder.resolve(), _repository(folder)
    return "" if root == here else f"{here.relative_to(root).as_posix()}/"


def _repository(folder: Path) -> Path:
    """The root of the version control around a folder; the folder itself where there is none."""
    here = folder.resolve()
    return next((above for above in (here, *here.parents) if (above / ".git").exists()), here)


def _write(path: Path, text: str) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise usage(f"cannot write {path}: {error.strerror}") from error


def _indented(document: object) -> str:
    return msgspec.json.format(msgspec.json.encode(document), indent=2).decode() + "\n"
