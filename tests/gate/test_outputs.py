"""What the gate writes: every form says the same, and those who read it can."""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from precedes.core.outcome import Outcome
from precedes.gate.findings import Event, Item, Judged, Place, Summary
from precedes.gate.outputs import FORMATS, renderer
from precedes.reports.page.rendering import LARGEST
from tests.command.running import precedes
from tests.gate.projects import SCENARIO, SWAPPED, changed, gate, project
from tests.reports.browser import after, needs_browser, told

PUBLISHED = Path(__file__).with_name("published")

ITEMS = (
    Item("G101", "check a.prec", "first: expect ST", "passed", "expect ST: ST holds", Place("a.prec", 3)),
    Item(
        "G105",
        "verify t.jsonl",
        "order_preserving",
        "failed",
        "order_preserving: 1 of 2 executions violate it, 100 % | more",
        Place("t,1:2.jsonl", 1),
        "execution x\n<a & b> ``` \x1b",
        (Event("E1", "send a to E2"), Event("E1", "send b to E2"), Event("E2", "deliver b")),
    ),
    Item(
        "G102", "check a.prec", "claim TO implies ST # sharp", "undecided", "out of time", Place("a.prec", 9)
    ),
    Item(
        "G205",
        "explore cmd",
        "states",
        "failed",
        "cmd: 7 states; the baseline has 8",
        Place("precedes.toml"),
    ),
    Item("G202", "check a.prec", "definition spread", "failed", "spread demands less", Place("a.prec", 1)),
)
JUDGED = (
    Judged(ITEMS[0], "error"),
    Judged(ITEMS[1], "error", "new"),
    Judged(ITEMS[2], "error"),
    Judged(ITEMS[3], "note"),
    Judged(ITEMS[4], "error", "", accepted=True),
)
SUMMARY = Summary(JUDGED, 3, 1, ("check b.prec: old",), True, Outcome.OTHERWISE)


def rendered(form: str, summary: Summary = SUMMARY) -> str:
    return renderer(form)(summary)


def test_text() -> None:
    assert rendered("text").splitlines()[-1] == (
        "failed: 1 error, 1 note, 1 accepted, 1 undecided, 1 passed in 3 checks, 1 of them unchanged; "
        "against the baseline 1 new, 1 fixed"
    )
    assert "a.prec:1: G202 error (accepted): spread demands less" in rendered("text")


def validate(document: Any, schema: Any) -> None:
    kind = jsonschema.validators.validator_for(schema)
    kind.check_schema(schema)
    kind(schema).validate(document)


def test_the_page_shows_what_was_found_and_fetches_nothing() -> None:
    page = rendered("html")
    assert '<span class="failed">failed</span>' in page
    assert "&lt;a &amp; b&gt; ```" in page
    assert "<a & b>" not in page
    assert page.count("<article") == 4
    assert 'class="case accepted"' in page
    assert "fixed</span> check b.prec: old" in page
    assert not re.search(r"https?://(?!www\.w3\.org/2000/svg)|src=|<link", page)
    assert page.count("<script>") == 1
    assert "default-src 'none'; script-src 'sha256-" in page.replace("&#39;", "'")


def test_the_page_draws_a_counterexample_that_can_be_written_as_a_scenario() -> None:
    scenario = "scenario found\ncluster one two\nSL1: < a{2} ]\n"
    drawn = Item("G105", "c", "s", "failed", "said", Place("t"), "", (Event("one", "send a"),), scenario)
    broken = Item("G105", "c", "t", "failed", "said", Place("t"), "", (Event("one", "send a"),), "scenario")
    many = Item("G105", "c", "u", "failed", "said", Place("t"), "", (Event("one", "send a"),) * 201, scenario)
    pages = [
        rendered("html", Summary((Judged(one, "error"),), 1, 0, (), False, Outcome.OTHERWISE))
        for one in (drawn, broken, many)
    ]
    assert ["<svg" in page for page in pages] == [True, False, False]
    assert ">two</text>" in pages[0]


@pytest.mark.slow
def test_the_page_is_at_most_five_megabytes() -> None:
    scenario = "scenario found\ncluster one two\nSL1: < a{2} ]\n"
    items = [
        Item(
            "G105",
            f"c{k % 7}",
            f"s{k}",
            "failed",
            "said " * 20,
            Place("t"),
            "x" * 900,
            (Event("one", "send"),),
            scenario,
        )
        for k in range(9_000)
    ]
    judged = tuple(Judged(item, "error") for item in items)
    page = rendered("html", Summary(judged, 1, 0, (), False, Outcome.OTHERWISE))
    assert len(page.encode()) < LARGEST
    shown = page.count("<article")
    assert 500 < shown < 9_000
    assert f"{9_000 - shown:,} more have no room here" in page


def test_json_is_as_its_schema_says() -> None:
    document = json.loads(rendered("json"))
    schema = json.loads(precedes("gate", "--schema", "report").out)
    validate(document, schema)
    assert document["outcome"] == "failed"
    assert [item["result"] for item in document["items"]] == [
        "passed",
        "failed",
        "undecided",
        "failed",
        "failed",
    ]
    with pytest.raises(jsonschema.ValidationError):
        validate({**document, "outcome": "fine"}, schema)


def test_sarif_is_as_its_published_schema_says() -> None:
    document = json.loads(rendered("sarif"))
    validate(document, json.loads((PUBLISHED / "sarif-2.1.0.json").read_text(encoding="utf-8")))
    (run,) = document["runs"]
    rules = [rule["id"] for rule in run["tool"]["driver"]["rules"]]
    assert all(rules[result["ruleIndex"]] == result["ruleId"] for result in run["results"])
    violation = run["results"][0]
    (flow,) = violation["codeFlows"]
    assert [
        [step["location"]["message"]["text"] for step in thread["locations"]]
        for thread in flow["threadFlows"]
    ] == [
        ["E1: send a to E2", "E1: send b to E2"],
        ["E2: deliver b"],
    ]
    assert violation["baselineState"] == "new"
    assert [result["level"] for result in run["results"]] == ["error", "none", "note", "error"]
    assert run["results"][3]["suppressions"]


def test_sarif_leaves_out_what_no_reader_takes() -> None:
    many = Summary(JUDGED[1:2] * 5001, 1, 0, (), False, Outcome.OTHERWISE)
    (run,) = json.loads(rendered("sarif", many))["runs"]
    assert (len(run["results"]), run["properties"]["leftOut"]) == (5000, 1)


def test_fingerprints_know_no_lines() -> None:
    moved = Item("G105", "verify t.jsonl", "order_preserving", "failed", "other words", Place("t.jsonl", 99))
    assert moved.fingerprint == ITEMS[1].fingerprint
    assert len({item.fingerprint for item in ITEMS}) == len(ITEMS)


def test_junit() -> None:
    root = ET.fromstring(rendered("junit"))
    assert (root.get("tests"), root.get("failures"), root.get("skipped")) == ("5", "1", "1")
    failure = root.find(".//failure")
    assert failure is not None
    assert "<a & b> ``` \\u{1b}" in (failure.text or "")


def test_github_escapes_what_it_must() -> None:
    lines = rendered("github").splitlines()
    assert lines[0].startswith(
        "::error file=t%2C1%3A2.jsonl,line=1,title=G105 verify t.jsonl::order_preserving: 1 of 2"
    )
    assert "100 %25 | more%0Aexecution x%0A<a & b>" in lines[0]
    assert [line.partition(" ")[0] for line in lines[:-1]] == [
        "::error",
        "::warning",
        "::notice",
        "::warning",
    ]


def test_github_shows_ten_of_a_kind() -> None:
    lines = rendered("github", Summary(JUDGED[1:2] * 12, 1, 0, (), False, Outcome.OTHERWISE)).splitlines()
    assert (len(lines), lines[-2]) == (12, "2 more are in the job summary")


def test_a_job_summary_keeps_its_limit() -> None:
    text = rendered("github-summary")
    assert "100 % \\| more` |" in text
    assert "````text\nexecution x" in text
    large = Judged(Item("G105", "c", "s", "failed", "m", Place("p"), "x" * 300_000), "error")
    cut = rendered("github-summary", Summary((large,) * 9, 1, 0, (), False, Outcome.OTHERWISE))
    assert len(cut.encode()) < 1_048_576
    assert "6 more figures do not fit here." in cut


def test_gitlab() -> None:
    entries = json.loads(rendered("gitlab"))
    assert [entry["severity"] for entry in entries] == ["critical", "minor", "info"]
    for entry in entries:
        assert entry.keys() == {"description", "check_name", "fingerprint", "severity", "location"}
        assert isinstance(entry["location"]["lines"]["begin"], int)


def test_tap() -> None:
    lines = rendered("tap").splitlines()
    assert lines[:2] == ["TAP version 14", "1..5"]
    points = [line for line in lines if re.match(r"(not )?ok", line)]
    assert points == [
        "ok 1 - check a.prec: first: expect ST",
        "not ok 2 - verify t.jsonl: order_preserving",
        "not ok 3 - check a.prec: claim TO implies ST \\# sharp # TODO undecided",
        "not ok 4 - explore cmd: states # TODO note",
        "not ok 5 - check a.prec: definition spread # TODO accepted",
    ]


def test_every_form_has_the_same_exit_code(tmp_path: Path) -> None:
    folder = project(tmp_path)
    (folder / "traces/run.jsonl").write_text(SWAPPED, encoding="utf-8")
    gate(folder, "--write-baseline")
    assert {gate(folder, "--format", form).code for form in FORMATS} == {1}
    written = [argument for form in FORMATS for argument in ("--output", f"{form}:out/{form}")]
    assert gate(folder, *written).code == 1
    for form in FORMATS:
        assert (folder / "out" / form).read_text(encoding="utf-8") == gate(folder, "--format", form).out


@pytest.mark.parametrize("target", ["sarif", "sarif:", "serif:x"])
def test_a_mistaken_output(tmp_path: Path, target: str) -> None:
    ended = gate(project(tmp_path), "--output", target)
    assert ended.code == 2
    assert f"--output {target} is not FORMAT:PATH" in ended.err


def test_the_configuration_is_as_its_schema_says(tmp_path: Path) -> None:
    import tomllib

    from precedes.gate.run.template import FILES

    schema = json.loads(precedes("gate", "--schema", "config").out)
    validate(tomllib.loads((project(tmp_path) / "precedes.toml").read_text(encoding="utf-8")), schema)
    validate(tomllib.loads(FILES["precedes.toml"]), schema)
    with pytest.raises(jsonschema.ValidationError):
        validate({"chekc": []}, schema)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[[check]\n", "precedes.toml:1:"),
        ('[[check]]\nfile = ["a"]\n', 'precedes.toml:2:1: C002 unknown key file in check\n    file = ["a"]'),
        ('[[explore]]\nmodel = "cmd"\nentites = 3\n', "did you mean entities?"),
        (
            'unknown = "maybe"\n[[check]]\nfiles = ["a"]\n',
            "precedes.toml:1:1: C003 unknown: invalid enum value 'maybe'",
        ),
        ('[[verify]]\nfiles = ["a"]\nrequire = ["ST"]\nbudget = { ST = "0.1" }\n', "of the form '0.1 %'"),
        ("cache = ''\n", "C003 there is nothing to do"),
        ('[[check]]\nfiles = ["nowhere"]\n', "no file for 'nowhere'"),
    ],
)
def test_mistakes_in_the_configuration(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "precedes.toml").write_text(text, encoding="utf-8")
    ended = gate(tmp_path)
    assert ended.code == 2
    assert said.partition("\n")[0] in ended.err


def test_no_configuration(tmp_path: Path) -> None:
    ended = gate(tmp_path)
    assert (ended.code, "precedes init" in ended.err) == (2, True)


def test_a_pyproject(tmp_path: Path) -> None:
    folder = project(tmp_path)
    text = (folder / "precedes.toml").read_text(encoding="utf-8")
    (folder / "precedes.toml").unlink()
    nested = text.replace("[[", "[[tool.precedes.").replace("baseline =", "[tool.precedes]\nbaseline =")
    (folder / "pyproject.toml").write_text('[project]\nname = "x"\n' + nested, encoding="utf-8")
    assert gate(folder, "--write-baseline").code == 0
    changed(folder, "pyproject.toml", "require", "requires")
    assert "pyproject.toml:11:1: C002 unknown key requires in verify" in gate(folder).err


def test_a_starter_passes(tmp_path: Path) -> None:
    assert precedes("init", tmp_path / "new").code == 0
    assert gate(tmp_path / "new").out == "passed: 5 passed in 2 checks\n"
    again = precedes("init", tmp_path / "new")
    assert (again.code, "nothing was written" in again.err) == (2, True)


def test_a_figure_in_tap_is_yaml() -> None:
    import yaml

    item = Item("G103", "explore m", "s", "failed", "m", Place("m.py"), " 1  E1 sends\nRL1: < ]\n  # ^")
    text = rendered("tap", Summary((Judged(item, "error"),), 1, 0, (), False, Outcome.OTHERWISE))
    block = text.partition("  ---\n")[2].partition("  ...")[0]
    assert yaml.safe_load(block)["figure"] == item.detail + "\n"


def test_addresses_in_sarif_are_addresses() -> None:
    item = Item("G101", "check a", "s", "failed", "m", Place("spécs/a b#1%20:c.prec"))
    document = json.loads(
        rendered("sarif", Summary((Judged(item, "error"),), 1, 0, (), False, Outcome.OTHERWISE))
    )
    location = document["runs"][0]["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"]
    assert location["uri"] == "sp%C3%A9cs/a%20b%231%2520%3Ac.prec"


def test_places_are_told_from_the_root_of_the_repository(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    folder = project(tmp_path / "below")
    (folder / "traces/run.jsonl").write_text(SWAPPED, encoding="utf-8")
    gate(folder, "--write-baseline")
    assert "::error file=below/traces/run.jsonl,line=1," in gate(folder, "--format", "github").out
    assert '"uri": "below/traces/run.jsonl"' in gate(folder, "--format", "sarif").out
    assert '"path": "below/traces/run.jsonl"' in gate(folder, "--format", "gitlab").out
    assert "\ntraces/run.jsonl:1: G105" in gate(folder, "--format", "text").out


def test_many_findings_stay_within_what_is_shown() -> None:
    def one(number: int) -> Judged:
        return Judged(
            Item("G101", f"check {number}.prec", "s", "failed", "m" * 2_000, Place("a"), "d" * 50), "error"
        )

    summary = Summary(tuple(map(one, range(4_000))), 1, 0, ("f" * 100,) * 9_000, False, Outcome.OTHERWISE)
    text = rendered("github-summary", summary)
    assert len(text.encode()) < 1_048_576
    assert "| | | | 3000 more |" in text
    root = ET.fromstring(rendered("junit", summary))
    assert (len(root), root.get("failures")) == (4_000, "4000")


def test_a_suite_in_junit_stands_once_and_can_be_written() -> None:
    items = [
        Item("G101", "check \x01\ud800\uffff", subject, "failed", "m", Place("a")) for subject in ("a", "b")
    ]
    between = Item("G101", "check b", "a", "passed", "m", Place("b"))
    judged = tuple(Judged(item, "error") for item in (items[0], between, items[1]))
    root = ET.fromstring(rendered("junit", Summary(judged, 2, 0, (), False, Outcome.OTHERWISE)))
    assert [suite.get("name") for suite in root] == ["check \\u{1}\\u{d800}\\u{ffff}", "check b"]


def test_tags_in_a_job_summary_are_text() -> None:
    item = Item("G102", "check a", "claim p <[L] q", "failed", "claim p <b>", Place("a|b"), "d")
    text = rendered("github-summary", Summary((Judged(item, "error"),), 1, 0, (), False, Outcome.OTHERWISE))
    assert "| `claim p <b>` |" in text
    assert "<summary>check a: claim p &lt;[L] q</summary>" in text
    assert "`a\\|b:1`" in text


def test_what_is_strict_and_undecided_is_an_error_on_github() -> None:
    item = Item("G102", "check a", "claim", "undecided", "m", Place("a"))
    judged = (Judged(item, "error", strict=True), Judged(item, "error"))
    lines = rendered("github", Summary(judged, 1, 0, (), False, Outcome.OTHERWISE)).splitlines()
    assert [line.partition(" ")[0] for line in lines[:2]] == ["::error", "::warning"]


@pytest.mark.parametrize(
    ("outputs", "said"),
    [
        (("json:a", "sarif:./a"), "--output sarif:./a would write over another output"),
        (("json:-",), "--format json writes to standard output"),
    ],
)
def test_outputs_that_get_lost(tmp_path: Path, outputs: tuple[str, ...], said: str) -> None:
    ended = gate(project(tmp_path), *(argument for output in outputs for argument in ("--output", output)))
    assert (ended.code, said in ended.err) == (2, True)
    assert not (tmp_path / "a").exists()


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("precedes.toml", '[[check]]\nfiles = ["a**"]\n', "U001 'a**' is not a pattern"),
        ("precedes.toml", '[[check]]\nfiles = ["/a/*.prec"]\n', "U001 '/a/*.prec' is not a pattern"),
        ("pyproject.toml", "tool = 3\n", "U001 no precedes.toml"),
        ("pyproject.toml", "[tool]\nprecedes = 3\n", "C003 the whole: expected `object`, got `int`"),
    ],
)
def test_forms_that_nobody_meant(tmp_path: Path, name: str, text: str, said: str) -> None:
    (tmp_path / name).write_text(text, encoding="utf-8")
    ended = gate(tmp_path)
    assert (ended.code, said in ended.err) == (2, True), ended.err


def test_a_starter_writes_all_or_nothing(tmp_path: Path) -> None:
    (tmp_path / "specs").write_text("a file\n", encoding="utf-8")
    ended = precedes("init", tmp_path)
    assert (ended.code, "specs already exists" in ended.err) == (2, True)
    assert not (tmp_path / "precedes.toml").exists()
    (tmp_path / "specs").unlink()
    (tmp_path / "pyproject.toml").write_text("[tool.precedes]\n", encoding="utf-8")
    ended = precedes("init", tmp_path)
    assert (ended.code, "pyproject.toml with [tool.precedes] already exists" in ended.err) == (2, True)
    (tmp_path / "pyproject.toml").write_text("[tool.other]\n", encoding="utf-8")
    assert precedes("init", tmp_path).code == 0
    assert gate(tmp_path).code == 0


def test_the_page_marks_what_draw_marks(tmp_path: Path) -> None:
    """A failed expectation, one of a name that the file defines, a refuted claim and a trace."""
    own = "predicate in_turn := forall p, q: not exists i, j: p <[RL[i]] q and q <[RL[j]] p\n"
    figure = SCENARIO.partition("expect SP")[0]
    for name, text in {
        "one.prec": f"{figure}expect ST\n",
        "two.prec": f"{own}{figure}expect in_turn\n",
        "three.prec": f"{own}claim SP implies in_turn\n",
        "t.jsonl": SWAPPED,
        "precedes.toml": '[[check]]\nfiles = ["*.prec"]\n[[verify]]\nfiles = ["t.jsonl"]\nrequire = ["SP"]\n',
    }.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    page = gate(tmp_path, "--format", "html").out
    pictures = re.findall(r"<svg.*?</svg>", page, re.DOTALL)
    marked = [picture.count("#b3261e") for picture in pictures]
    assert len(marked) == 4
    assert all(marked)
    drawn = precedes("draw", tmp_path / "one.prec", "--format", "svg").out
    assert marks(drawn) == marks(pictures[0])


def marks(svg: str) -> list[tuple[str | None, str | None]]:
    """What is drawn in red, by its kind and where it stands."""
    return [
        (element.get("class"), element.get("d") or element.get("cx"))
        for element in ET.fromstring(svg)
        if "#b3261e" in (element.get("fill"), element.get("stroke"))
        and element.get("class") not in ("told", "label", None)
    ]


@needs_browser
@pytest.mark.slow
def test_findings_are_filtered_and_diagrams_followed_in_a_browser(tmp_path: Path) -> None:
    scenario = "scenario found\ncluster one two\nSL1: < a{2} ]\nRL2: < a ]\n"
    drawn = Item("G105", "c", "drawn", "failed", "said", Place("t"), "", (Event("one", "send a"),), scenario)
    page = rendered("html", Summary((*JUDGED, Judged(drawn, "error")), 1, 0, (), False, Outcome.OTHERWISE))
    driving = """
      const kind = document.getElementById('by-kind');
      kind.value = 'error';
      kind.dispatchEvent(new Event('input', { bubbles: true }));
      document.querySelector('.delivery').dispatchEvent(new MouseEvent('click', { bubbles: true }));
      document.title = [
        document.getElementById('count').textContent,
        [...document.querySelectorAll('article')].filter((each) => !each.hidden).length,
        document.querySelector('.tools span').textContent,
      ].join('; ');
    """
    assert (
        told(after(page, driving, tmp_path)) == "2 of 5; 2; deliver a at two: 1 before, 0 after, 0 concurrent"
    )
