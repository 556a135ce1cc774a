"""Notices: told once, counted, in an order that nothing depends on."""

from __future__ import annotations

import pickle

from precedes.traces import Notice, Notices


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
