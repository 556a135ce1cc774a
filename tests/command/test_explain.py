"""`precedes explain NAME`: definitions with their meaning, source and what is proved of them."""

from __future__ import annotations

from pathlib import Path

from precedes.language.library import standard_library
from tests.command.running import precedes


def test_a_service_is_told_with_all_its_parts() -> None:
    ended = precedes("explain", "ST")
    assert ended.code == 0
    lines = ended.out.splitlines()
    assert lines[0] == "ST  selective, totally ordered"
    assert "from: 1994, §2.4, definition" in lines
    assert "    service ST := SP and order_equivalent" in lines
    named = [line.split()[0] for line in lines if line.startswith("    ") and "  " in line.strip()]
    assert named == [
        "SP",
        "selectively_correct",
        "order_preserving",
        "selectively_information_preserving",
        "order_equivalent",
    ]
    proved = ended.out.partition("It implies: ")[2].partition("\n\n")[0].replace("\n", " ").split()
    assert {"1C,", "SP,", "agreement,"} <= set(proved)
    assert "TO," not in proved


def test_a_predicate_is_told_with_what_implies_it() -> None:
    out = precedes("explain", "order_equivalent").out
    assert "forall p, q in L & M: p <[L] q iff p <[M] q" in out
    assert "It is implied by: 1C, TO, ST, equivalent, acyclic_order" in out
    assert "The same as: process_causal_order" in precedes("explain", "causal_order").out


def test_every_name_is_explained() -> None:
    for name in standard_library().names():
        ended = precedes("explain", name)
        assert (ended.code, ended.out.startswith(f"{name}  ")) == (0, True), name


def test_built_in_words_and_definitions_of_ones_own(tmp_path: Path) -> None:
    assert precedes("explain", "sent").out.startswith("sent(message)  somebody sent p")
    spec = tmp_path / "own.prec"
    spec.write_text('predicate mine "all of it" := ST and no_duplication\n', encoding="utf-8")
    ended = precedes("explain", "mine", "--spec", spec)
    assert ended.out.startswith("mine  all of it")
    assert "no message is delivered twice" in ended.out
    assert "implies" not in ended.out


def test_what_there_is_not() -> None:
    ended = precedes("explain", "total_order")
    assert (ended.code, "did you mean order_equivalent, TO or ST?" in ended.err) == (2, True)
    assert precedes("explain", "Z999").code == 2
