"""What runs in the pipelines of others: the scripts of the action and of the template, as their runners run them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest
import yaml

from tests.command.documents import blocks
from tests.gate.projects import SWAPPED, changed, gate, project
from tests.sampling import one_in

ROOT = Path(__file__).parents[2]
PATH = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A project that fails, by a check that is gone; its name has spaces."""
    made = project(tmp_path)
    gate(made, "--write-baseline")
    changed(made, "specs/first.prec", "expect not ST\n", "")
    return made


def ended(folder: Path, script: str, shell: list[str], **settings: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PATH": PATH, **settings}
    environment.pop("GITHUB_ACTIONS", None)
    return subprocess.run(
        [*shell, script], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )


def action(folder: Path, arguments: str) -> tuple[int, dict[str, str], str]:
    steps = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))["runs"]["steps"]
    (folder / "output").unlink(missing_ok=True)
    (script,) = [step["run"] for step in steps if step.get("id") == "gate"]
    said = ended(
        folder,
        script,
        ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c"],
        ARGS=arguments,
        BASE_FILE="",
        HOME=str(folder / "home"),
        SARIF="out/precedes.sarif",
        GITHUB_OUTPUT=str(folder / "output"),
    )
    lines = (folder / "output").read_text(encoding="utf-8").splitlines()
    return said.returncode, dict(line.split("=", 1) for line in lines), said.stdout + said.stderr


def test_the_action_tells_what_came_out(folder: Path) -> None:
    code, outputs, said = action(folder, "")
    assert (code, outputs) == (
        1,
        {"exit-code": "1", "sarif": "out/precedes.sarif", "outcome": "failed"},
    ), said
    assert json.loads((folder / "out/precedes.sarif").read_text(encoding="utf-8"))["runs"]
    assert not (folder / ".precedes-report.json").exists()


def test_arguments_of_the_action_may_have_spaces_and_are_not_expanded(folder: Path) -> None:
    name = "check specs/first.prec: first: expect not ST"
    assert action(folder, f'--accept "{name}"')[0] == 0
    code, outputs, said = action(folder, "--accept * --config $(touch run)")
    assert (code, outputs["exit-code"]) == (2, "2"), said
    assert not (folder / "run").exists()
    assert "unexpected extra argument (run)" in said
    code, outputs, said = action(folder, '"')
    assert (code, "args: No closing quotation" in said) == (2, True)
    assert "outcome" not in outputs


def test_the_template_of_gitlab(folder: Path) -> None:
    (folder / "traces/run.jsonl").write_text(SWAPPED, encoding="utf-8")
    job = yaml.safe_load((ROOT / "templates/gitlab.yml").read_text(encoding="utf-8"))["precedes"]
    script = job["script"][-1]
    said = ended(folder, script, ["sh", "-ec"], PRECEDES_ARGS='--accept "check specs/first.prec"')
    assert said.returncode == 1, said.stderr
    reports = job["artifacts"]["reports"]
    entries = json.loads((folder / reports["codequality"]).read_text(encoding="utf-8"))
    assert {entry["check_name"] for entry in entries} == {"G105"}
    assert (folder / reports["junit"]).is_file()


def test_files_named_like_modules_are_not_run(folder: Path) -> None:
    for name in ("shlex", "subprocess", "json", "os", "precedes", "multiprocessing", "click", "msgspec"):
        (folder / f"{name}.py").write_text("import sys; sys.exit(0)\n", encoding="utf-8")
    assert action(folder, "")[0] == 1
    for text in ((ROOT / "action.yml"), (ROOT / "templates/gitlab.yml")):
        lines = [line for line in text.read_text(encoding="utf-8").splitlines() if "python -" in line]
        assert lines
        assert all("python -P " in line for line in lines), lines


def git(folder: Path, *arguments: str) -> None:
    who = ("-c", "user.name=x", "-c", "user.email=x@example.org", "-c", "commit.gpgsign=false")
    subprocess.run(["git", *who, *arguments], cwd=folder, check=True, capture_output=True)


@pytest.fixture
def merge(tmp_path: Path) -> Path:
    """A branch that weakens a check and writes the baseline anew, as a clone of depth 1; what it is for is `main`."""
    upstream = project(tmp_path / "up stream/precedes")
    gate(upstream, "--write-baseline")
    top = upstream.parent
    git(top, "init", "--quiet", "--initial-branch=main")
    git(top, "add", "--all")
    git(top, "commit", "--quiet", "--message=base")
    git(top, "checkout", "--quiet", "-b", "weaker")
    changed(upstream, "specs/first.prec", "expect not ST\n", "")
    gate(upstream, "--write-baseline")
    assert gate(upstream).code == 0
    git(top, "commit", "--quiet", "--all", "--message=weaker")
    clone = tmp_path / "clone"
    git(tmp_path, "clone", "--quiet", "--depth=1", "--branch=weaker", top.as_uri(), str(clone))
    return clone / "precedes"


@pytest.mark.parametrize(
    ("base", "file", "code"),
    [("main", "baseline.json", 1), ("main", "none.json", 0), pytest.param("", "", 0, marks=pytest.mark.slow)],
)
def test_the_action_compares_a_pull_request_with_the_base_branch(
    merge: Path, tmp_path: Path, base: str, file: str, code: int
) -> None:
    steps = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))["runs"]["steps"]
    scripts = {step["id"]: step["run"] for step in steps if "id" in step}
    bash = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c"]
    output = tmp_path / "output"
    output.touch()
    settings = {"GITHUB_OUTPUT": str(output), "RUNNER_TEMP": str(tmp_path), "HOME": str(tmp_path / "home")}
    said = ended(merge, scripts["base"], bash, BASE=base, BASELINE=file, **settings)
    assert said.returncode == 0, said.stderr
    found = dict(line.split("=", 1) for line in output.read_text(encoding="utf-8").splitlines())
    assert (said.stdout == "", bool(found)) == (file != "none.json", code == 1)
    said = ended(
        merge, scripts["gate"], bash, ARGS="", SARIF="x", BASE_FILE=found.get("file", ""), **settings
    )
    assert said.returncode == code, said.stdout + said.stderr
    assert (tmp_path / "home/.precedes-gate/gate-secret").is_file()


def test_a_base_branch_that_cannot_be_fetched_ends_the_action(merge: Path, tmp_path: Path) -> None:
    steps = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))["runs"]["steps"]
    (script,) = [step["run"] for step in steps if step.get("id") == "base"]
    said = ended(
        merge, script, ["bash", "-eo", "pipefail", "-c"], BASE="gone", BASELINE="x", RUNNER_TEMP=str(tmp_path)
    )
    assert said.returncode != 0


@pytest.mark.parametrize(
    ("target", "code"), [("main", 1), pytest.param("", 0, marks=pytest.mark.slow), ("gone", 128)]
)
def test_the_template_compares_a_merge_request_with_the_target_branch(
    merge: Path, target: str, code: int
) -> None:
    job = yaml.safe_load((ROOT / "templates/gitlab.yml").read_text(encoding="utf-8"))["precedes"]
    variables = {
        "PRECEDES_ARGS": "",
        "PRECEDES_BASELINE": "baseline.json",
        "CI_MERGE_REQUEST_TARGET_BRANCH_NAME": target,
    }
    said = ended(merge, job["script"][-1], ["sh", "-ec"], **variables)
    assert said.returncode == code, said.stdout + said.stderr
    assert ("expect not ST is no longer checked" in said.stdout) == (code == 1)


def documented() -> dict[str, Any]:
    """The job of the whole .gitlab-ci.yml that the documents show."""
    (block,) = [block for block in blocks(ROOT / "docs/gate.md") if block.mark == "gitlab"]
    whole = yaml.safe_load(block.body)
    assert whole.keys() == {"stages", "precedes"}
    job: dict[str, Any] = whole["precedes"]
    assert job["stage"] in whole["stages"]
    return job


def test_the_documented_job_reports_to_gitlab(folder: Path) -> None:
    job = documented()
    said = ended(folder, job["script"][-1], ["sh", "-ec"])
    assert said.returncode == 1, said.stderr
    reports = job["artifacts"]["reports"]
    entries = json.loads((folder / reports["codequality"]).read_text(encoding="utf-8"))
    assert {entry["check_name"] for entry in entries} == {"G201"}
    suites = ET.parse(folder / reports["junit"]).getroot()
    assert int(suites.attrib["failures"]) == len(suites.findall(".//failure")) == 1
    assert set(job["artifacts"]["paths"]) == set(reports.values())


@pytest.mark.parametrize(
    ("target", "name", "code"),
    # The script of the template is asked without a target, too, and that of the action without a baseline.
    one_in(3, [("main", "baseline.json", 1), ("main", "none.json", 0), ("", "", 0)]),
)
def test_the_documented_job_compares_with_the_target_branch(
    merge: Path, target: str, name: str, code: int
) -> None:
    script = documented()["script"][-1]
    assert "precedes-baseline.json" in script
    script = script.replace("precedes-baseline.json", name)
    said = ended(merge, script, ["sh", "-ec"], CI_MERGE_REQUEST_TARGET_BRANCH_NAME=target)
    assert said.returncode == code, said.stdout + said.stderr
    assert ("expect not ST is no longer checked" in said.stdout) == (code == 1)


def test_the_documented_job_does_what_the_template_does() -> None:
    template = yaml.safe_load((ROOT / "templates/gitlab.yml").read_text(encoding="utf-8"))["precedes"]
    job = documented()
    for key in ("stage", "image", "cache"):
        assert job[key] == template[key]
    assert job["artifacts"]["reports"] == template["artifacts"]["reports"]


def test_the_hooks_are_commands(folder: Path) -> None:
    hooks = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
    codes = {}
    for hook in hooks:
        files = "" if hook.get("pass_filenames") is False else " specs/words.prec specs/first.prec"
        codes[hook["id"]] = ended(folder, hook["entry"] + files, ["sh", "-ec"]).returncode
    assert codes == {"precedes-check": 0, "precedes-gate": 1}
