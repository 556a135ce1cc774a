"""The pytest plugin, run inside pytest."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

SPEC = """\
scenario first
cluster E1 E2
RL1: < a b ]   SL1: < a{1,2} ]
RL2: < b a ]   SL2: < b{1,2} ]
expect SP
expect ST
expect SP

claim TO implies PO
claim SP implies ST
"""


def test_one_item_for_each_statement(pytester: pytest.Pytester) -> None:
    pytester.makefile(".prec", first=SPEC)
    items, _ = pytester.inline_genitems()
    assert [item.name for item in items] == [
        "first: expect SP",
        "first: expect ST",
        "first: expect SP (2)",
        "claim TO implies PO",
        "claim SP implies ST",
    ]
    assert [item.reportinfo()[1] for item in items] == [4, 5, 6, 8, 9]


def test_failures_show_the_figure(pytester: pytest.Pytester) -> None:
    pytester.makefile(".prec", first=SPEC)
    result = pytester.runpytest("-n", "0")
    result.assert_outcomes(passed=3, failed=2)
    result.stdout.fnmatch_lines(
        [
            "first.prec:6: expect ST: ST violated",
            "order_equivalent: E1 delivers a before b, *",
            "RL1: < a b ]*",
        ]
    )
    result.stdout.fnmatch_lines(["first.prec:10: claim SP implies ST: *", "scenario line_10"])
    assert "Traceback" not in result.stdout.str()


def test_a_vacuous_expectation_is_no_pass(pytester: pytest.Pytester) -> None:
    pytester.makefile(".prec", empty="scenario s\ncluster A B\nexpect ST\n")
    result = pytester.runpytest("-n", "0", "-rs")
    result.assert_outcomes(skipped=1)
    result.stdout.fnmatch_lines(["*vacuous: the scenario has no message, so there was nothing to check"])


def test_a_mistake_is_told_as_check_tells_it(pytester: pytest.Pytester) -> None:
    pytester.makefile(".prec", first=SPEC.replace("expect ST", "expect STT"))
    result = pytester.runpytest("-n", "0")
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["first.prec:6:8: N0*", "*expect STT", "*^^^*"])


def test_one_statement_can_be_chosen(pytester: pytest.Pytester) -> None:
    pytester.makefile(".prec", first=SPEC)
    pytester.runpytest("-n", "0", "first.prec::claim TO implies PO").assert_outcomes(passed=1)


def test_without_a_spec_nothing_is_imported(tmp_path: Path) -> None:
    (tmp_path / "test_nothing.py").write_text(
        "import sys\n\ndef test_it():\n    assert '_precedes_pytest' in sys.modules\n"
        "    assert not [name for name in sys.modules if name.partition('.')[0] == 'precedes']\n",
        encoding="utf-8",
    )
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(tmp_path)]
    ended = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert ended.returncode == 0, ended.stdout


def test_a_file_that_is_no_text_is_told_without_a_traceback(pytester: pytest.Pytester) -> None:
    (pytester.path / "a.prec").write_bytes(b"\xff")
    result = pytester.runpytest("-n", "0")
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["a.prec: P001 not UTF-8 text (byte 0)"])
    assert "UnicodeDecodeError" not in result.stdout.str()


CONFORMING = """\
ROWS = [
    {"execution": 1, "entity": "E1", "seq": 0, "event": "send", "message": "a", "dest": ["E2"]},
    {"execution": 1, "entity": "E2", "seq": 0, "event": "deliver", "message": "a"},
]

def test_right(assert_conforms):
    assert assert_conforms("cmd", ROWS).conforming == 1

def test_wrong(assert_conforms):
    assert_conforms("cmd", ROWS[1:])
"""


def test_a_test_says_that_a_trace_conforms(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(CONFORMING)
    result = pytester.runpytest("-n", "0")
    result.assert_outcomes(passed=1, failed=1)
    said = result.stdout.str()
    assert "1 does not conform: E2 delivers a" in said
    assert "raise AssertionError" not in said
