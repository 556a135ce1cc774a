"""Reports as pages: what stands in them, that a browser shows it, and that nothing of a trace becomes markup."""

from __future__ import annotations

import inspect
import json
import re
import time
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from precedes.core.verdict import Verdict
from precedes.reports.page import rendering
from precedes.reports.page.contents import Case, Line, Page, Section
from precedes.reports.page.rendering import LARGEST, html
from precedes.reports.space_time import message_colors, signs, svg
from precedes.reports.space_time.dark_colors import DARK
from tests.command.running import precedes
from tests.reports.browser import after, needs_browser, told

TRACE = Path(__file__).parents[2] / "traces" / "rabbitmq-fanout.jsonl.gz"
HOSTILE = "</script><script>document.title='hurt'</script><img src=x onerror=\"document.title='hurt'\">"


class Elements(HTMLParser):
    """The elements of a page, and its data."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.data: dict[str, Any] = {}
        self._reads: str | None = None
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        self._reads = dict(attrs).get("id") if tag == "script" else None

    def handle_data(self, data: str) -> None:
        if self._reads is not None:
            self.data[self._reads] = json.loads(data)
            self._reads = None


def events(execution: str, names: tuple[str, str, str], day: int, *, wrong: bool) -> list[dict[str, Any]]:
    """Two messages that two entities deliver in two orders where it goes `wrong`."""
    start = 1_772_323_200 + day * 86_400
    sender, one, other = names
    rows = [
        {
            "execution": execution,
            "entity": sender,
            "event": "send",
            "message": m,
            "dest": [one, other],
            "time": start + k,
        }
        for k, m in enumerate(("first", "second"))
    ]
    for entity in (one, other):
        order = ("second", "first") if wrong and entity == other else ("first", "second")
        rows += [
            {
                "execution": execution,
                "entity": entity,
                "event": "deliver",
                "message": m,
                "time": start + 5 + k,
            }
            for k, m in enumerate(order)
        ]
    return rows


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    path = tmp_path / "t.jsonl"
    rows = [row for n in range(6) for row in events(f"run {n}", ("a", "b", "c"), n // 2, wrong=n > 0)]
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    return path


def page_of(trace: Path, *more: object) -> str:
    target = trace.parent / "report.html"
    ended = precedes(
        "verify", trace, "--require", "order_equivalent", "--require", "no_creation", "--html", target, *more
    )
    assert ended.code == 1, ended.err
    return target.read_text(encoding="utf-8")


# ---- what stands in a page


def test_a_page_lists_every_violation_and_the_command_the_first(trace: Path) -> None:
    target = trace.parent / "report.html"
    ended = precedes(
        "verify", trace, "--require", "order_equivalent", "--html", target, "--max-violations", 1
    )
    assert "1 of 5 violations shown" in ended.out
    found = Elements(target.read_text(encoding="utf-8"))
    assert [case["x"] for case in found.data["data"]["cases"]] == [f"run {n}" for n in range(1, 6)]
    assert [case["d"] for case in found.data["data"]["cases"]] == [
        f"2026-03-0{1 + n // 2}" for n in range(1, 6)
    ]
    assert found.data["data"]["entities"] == ["a", "b", "c"]
    assert [case["l"] for case in found.data["data"]["cases"]] == [6 * 10**9] * 5
    assert len(found.data["drawings"]) == 5


def test_a_page_is_one_file_that_fetches_nothing(trace: Path) -> None:
    page = page_of(trace)
    assert not re.search(r"https?://(?!www\.w3\.org/2000/svg)|<link|\ssrc=|@import|url\(", page)
    policy = next(
        attrs["content"] for tag, attrs in Elements(page).tags if "http-equiv" in attrs and tag == "meta"
    )
    assert policy is not None
    assert policy.startswith("default-src 'none'; script-src 'sha256-")
    assert "unsafe" not in policy


def test_a_page_without_violations_has_no_script(tmp_path: Path) -> None:
    target = tmp_path / "r.html"
    assert precedes("verify", TRACE, "--require", "fifo_delivery", "--html", target).code == 0
    page = target.read_text(encoding="utf-8")
    assert '<span class="verdict holds">holds</span>' in page
    assert "<script" not in page


@pytest.mark.slow
def test_infer_has_a_page(tmp_path: Path) -> None:
    target = tmp_path / "r.html"
    assert precedes("infer", TRACE, "--html", target).code == 0
    page = target.read_text(encoding="utf-8")
    assert "<h2>Satisfied in every execution</h2>" in page
    assert "<h2>Violated</h2>" in page
    assert {"order_equivalent", "gap_free_order"} <= set(Elements(page).data["data"]["names"])


@pytest.mark.slow
def test_explore_has_a_page(tmp_path: Path) -> None:
    target = tmp_path / "r.html"
    options = ("--entities", 2, "--messages", 2, "--require", "TO", "--html", target)
    assert precedes("explore", "cmd", *options).code == 1
    page = target.read_text(encoding="utf-8")
    assert "<h2>cmd" in page
    (case, *_) = Elements(page).data["data"]["cases"]
    assert "scenario " in case["m"]


# ---- what others wrote


def hostile_page() -> Page:
    case = Case(HOSTILE, HOSTILE, HOSTILE, HOSTILE, HOSTILE, ((HOSTILE, HOSTILE),), 5, HOSTILE)
    section = Section(HOSTILE, [Line(HOSTILE, HOSTILE, (1,), HOSTILE)], (HOSTILE,))
    return Page(HOSTILE, Verdict.VIOLATED, HOSTILE, [HOSTILE], [section], [case], 1)


def test_nothing_of_a_trace_becomes_markup(tmp_path: Path) -> None:
    rows = [
        row for n in range(2) for row in events(f"{HOSTILE}{n}", (HOSTILE, f"b{HOSTILE}", "c"), n, wrong=True)
    ]
    (tmp_path / "t.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    for page in (html(hostile_page()), page_of(tmp_path / "t.jsonl")):
        found = Elements(page).tags
        assert [tag for tag, _ in found].count("script") == 3
        assert "img" not in {tag for tag, _ in found}
        assert "onerror" not in {name for _, attributes in found for name in attributes}


def test_names_that_cannot_be_printed_are_told_by_their_numbers(tmp_path: Path) -> None:
    name = "zero\u200bwidth \x1b[31m \u202e \u2028 \\u{9} \t"
    rows = events(name, (f"a{name}", "b", "c"), 0, wrong=True)
    (tmp_path / "t.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    page = page_of(tmp_path / "t.jsonl")
    assert all(line.isprintable() for line in page.split("\n"))
    (case,) = Elements(page).data["data"]["cases"]
    assert case["x"] == "zero\\u{200b}width \\u{1b}[31m \\u{202e} \\u{2028} \\u{9} \\u{9}"


@needs_browser
@pytest.mark.slow
def test_nothing_of_a_trace_runs_in_a_browser(tmp_path: Path) -> None:
    rows = [
        row for n in range(2) for row in events(f"{HOSTILE}{n}", (HOSTILE, f"b{HOSTILE}", "c"), n, wrong=True)
    ]
    (tmp_path / "t.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    every = "document.querySelectorAll('details').forEach((d) => { d.open = true; });"
    for page in (html(hostile_page()), page_of(tmp_path / "t.jsonl")):
        dom = after(page, every, tmp_path)
        assert told(dom) != "hurt"
        assert "document.title=" in dom
        assert "<img" not in dom


# ---- how large


def many(number: int) -> list[Case]:
    words = "node-{} delivers order-{:012} before order-{:012}, node-{} the other way; both were addressed to both"
    return [
        Case(
            f"name_{n % 7}",
            f"execution-{n:07}",
            words.format(n % 400, n, n + 1, (n + 7) % 400),
            f"2026-03-{1 + n % 28:02}",
            f"key customer-{n % 90}",
            (
                (f"node-{n % 400}", f"node-{(n * 7 + 1) % 400}"),
                (f"node-{n % 400}", f"node-{(n * 3 + 2) % 400}"),
            ),
            10 ** (n % 11) + n,
        )
        for n in range(number)
    ]


def test_what_has_no_room_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rendering, "_FOR_CASES", 30_000)
    notices = ["n" * 300] * 9_999
    written = html(Page("precedes verify", Verdict.VIOLATED, "", notices, [], many(200), 123_456))
    listed = re.search(r"([\d,]+) of 123,456 listed", written)
    assert listed is not None
    assert 50 < int(listed[1]) == len(Elements(written).data["data"]["cases"]) < 200
    assert "9999 notices" in written


@pytest.mark.slow
def test_a_page_is_at_most_five_megabytes() -> None:
    page = Page("precedes verify", Verdict.VIOLATED, "", [], [], many(10_000), 123_456)
    written = html(page)
    assert len(written.encode()) < LARGEST
    assert "10,000 of 123,456 listed" in written
    cases = [replace(case, told=case.told * 9) for case in page.cases]
    assert len(html(replace(page, cases=cases)).encode()) < LARGEST


def test_of_each_name_some_are_drawn(trace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rendering, "MOST_DRAWN", 2)
    target = trace.parent / "report.html"
    precedes("verify", trace, "--require", "order_equivalent", "--require", "broadcast", "--html", target)
    page = target.read_text(encoding="utf-8")
    data = Elements(page).data["data"]
    assert {data["names"][case["n"]] for case in data["cases"] if "g" in case} == {
        "order_equivalent",
        "broadcast",
    }
    assert "2 of them drawn" in page


# ---- in the dark


def test_every_color_of_a_drawing_has_one_for_the_dark() -> None:
    modules = (signs, svg, message_colors)
    colors = {color for module in modules for color in re.findall(r"#[0-9a-f]{6}", inspect.getsource(module))}
    assert colors <= DARK.keys()


# ---- in a browser


def shown(dom: str) -> list[str]:
    return re.findall(r'<details class="case[^"]*"[^>]*><summary><code>(\w+)</code> in ([^<]+?) on', dom)


@needs_browser
@pytest.mark.slow
def test_filters_and_charts(trace: Path) -> None:
    page = page_of(trace)
    dom = after(page, "", trace.parent)
    assert len(shown(dom)) == 5
    assert '<output id="count">5 of 5</output>' in dom
    assert re.findall(r"<h3>([^<]+)</h3>", dom) == [
        "Violated by day",
        "By sender and receiver",
        "By the longest delay of a message",
    ]
    assert dom.count("<svg") == 1, "what is closed is drawn when it is opened"
    filtering = """
      const day = document.getElementById('by-day');
      day.value = '2026-03-02';
      day.dispatchEvent(new Event('input', { bubbles: true }));
    """
    assert [where for _, where in shown(after(page, filtering, trace.parent))] == ["run 2", "run 3"]
    pressing = "document.querySelector('.chart button').click();"
    assert [where for _, where in shown(after(page, pressing, trace.parent))] == ["run 1"]
    searching = """
      const search = document.getElementById('search');
      search.value = 'RUN 4';
      search.dispatchEvent(new Event('input', { bubbles: true }));
    """
    assert [where for _, where in shown(after(page, searching, trace.parent))] == ["run 4"]


@needs_browser
@pytest.mark.slow
def test_an_event_lights_its_past_and_its_future(trace: Path) -> None:
    page = page_of(trace)
    choosing = """
      const dot = document.querySelector('.delivery[aria-label="deliver first at b"]');
      dot.focus();
      dot.dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter', bubbles: true }));
      const svg = document.querySelector('.diagram svg');
      const before = svg.getAttribute('viewBox');
      document.body.dispatchEvent(new KeyboardEvent('keydown', { key: '+', bubbles: true }));
      document.title = [
        document.querySelector('.tools span').textContent,
        svg.querySelectorAll('.arrow.followed').length,
        before !== svg.getAttribute('viewBox'),
      ].join('; ');
    """
    dom = after(page, choosing, trace.parent)
    assert told(dom) == "deliver first at b: 1 before, 1 after, 3 concurrent; 2; true"
    letting_go = choosing.replace(
        "document.title", "document.querySelectorAll('.tools button')[3].click(); document.title"
    )
    assert told(after(page, letting_go, trace.parent)).startswith("Choose an event")


@needs_browser
@pytest.mark.slow
def test_two_violations_stand_side_by_side(trace: Path) -> None:
    comparing = """
      const all = (selector) => [...document.querySelectorAll(selector)];
      all('.case').slice(0, 3).forEach((each) => { each.open = true; });
      setTimeout(() => {
        const buttons = all('.tools button').filter((each) => each.textContent === 'Compare');
        buttons.slice(0, 3).forEach((each) => each.click());
        const kept = all('#compared > div').map((each) => each.querySelector('p').textContent);
        document.title = kept.join(';') + document.querySelectorAll('#compared svg').length;
      }, 500);
    """
    dom = after(page_of(trace), comparing, trace.parent)
    assert told(dom) == "order_equivalent in run 2 Remove;order_equivalent in run 3 Remove2"


@needs_browser
@pytest.mark.slow
def test_the_keyboard_goes_through_the_violations(trace: Path) -> None:
    going = """
      const press = (key) => document.body.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true }));
      ['j', 'j', 'k', 'j'].forEach(press);
      document.title = document.activeElement.parentElement.querySelector('code').nextSibling.textContent;
    """
    assert told(after(page_of(trace), going, trace.parent)) == " in run 2"


@needs_browser
@pytest.mark.slow
def test_ten_thousand_violations_open_soon(tmp_path: Path) -> None:
    page = html(Page("precedes verify", Verdict.VIOLATED, "", [], [], many(10_000), 10_000))
    timing = "document.title = String(Math.round(performance.now()));"
    started = time.perf_counter()
    took = float(told(after(page, timing, tmp_path)))
    assert took < 10_000, f"{took} ms of the page's own clock, {time.perf_counter() - started:.1f} s in all"
