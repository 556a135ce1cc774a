"""Notices: told once, counted, in an order that nothing depends on."""

from __future__ import annotations

import pickle

import pytest

from precedes.traces import Notice, Notices
from precedes.traces import notices as notices_module
from precedes.traces.notices import Addressing


def test_notices_are_united() -> None:
    one, other = Notices(), Notices()
    one.count("T103", "rows", 2)
    one.once("T101", "column `b`")
    one.count("T104", "sends", 0)
    other.once("T101", "column `b`")
    other.once("T101", "column `a`")
    other.count("T103", "rows", 3)
    expected = (Notice("T101", "column `a`"), Notice("T101", "column `b`"), Notice("T103", "rows", 5))
    for first, second in ((one, other), (other, one)):
        united = Notices(first.all())
        united.merge(second.all())
        assert united.all() == expected
    assert pickle.loads(pickle.dumps(Notices(expected))).all() == expected
    assert [notice.render() for notice in expected[1:]] == ["T101 column `b`", "T103 rows (5)"]


def addressing(*met: str, to: tuple[str, ...] = (), chosen: bool = True) -> Addressing:
    return Addressing(frozenset(met), frozenset(to), chosen)


def test_who_is_addressed_only_is_found_over_all_executions() -> None:
    one, other = Notices(), Notices()
    one.heard(addressing("A", to=("B", "D,E", "F")))
    assert [n.count for n in one.all()] == [3]
    other.heard(addressing("B", "C"))
    one.unite(other)
    one.unite(other)
    (told,) = pickle.loads(pickle.dumps(one)).all()
    assert (told.code, told.count) == ("T110", 2)
    assert '"D,E", "F"' in told.text


def test_of_too_many_entities_nothing_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(notices_module, "MOST_NAMES", 3)
    told = Notices()
    told.heard(addressing("A", to=("B", "C")))
    assert told.all()
    told.heard(addressing("D"))
    told.heard(addressing("A", to=("B",)))
    assert not told.all()


@pytest.mark.parametrize(
    ("chosen", "violated", "codes"),
    [(False, False, []), (False, True, ["T109"]), (True, False, ["T109"]), (True, True, ["T109"])],
)
def test_that_all_sends_are_to_all_is_told_where_something_is_violated(
    chosen: bool, violated: bool, codes: list[str]
) -> None:
    told = Notices()
    told.count("T109", "sends", 2)
    told.heard(addressing("A", chosen=chosen))
    assert [notice.code for notice in told.all(violated=violated)] == codes
