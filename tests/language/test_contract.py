"""The contract files: what they state is what comes out; what is to be refused is, at the lines that they name."""

import re
from pathlib import Path

import pytest

from precedes.core.diagnostics import PrecedesError
from precedes.language.loader import compile_text
from tests.language.judging import wrong

CONTRACT = Path(__file__).parents[1] / "contract"
STATED = sorted(CONTRACT.glob("*.prec"))
REFUSED = sorted((CONTRACT / "bad").glob("*.prec"))
SHARED = Path(__file__).parents[2].parent / "shared" / "contract"


def test_the_files_are_there() -> None:
    assert len(STATED) == 6
    assert len(REFUSED) == 4


@pytest.mark.parametrize("path", STATED, ids=lambda path: path.name)
def test_what_is_stated_comes_out(path: Path) -> None:
    compiled = compile_text(path.read_text(encoding="utf-8"), path.name)
    assert compiled.scenarios or compiled.claims
    assert wrong(compiled) == []


@pytest.mark.parametrize("path", REFUSED, ids=lambda path: path.name)
def test_what_is_refused_is_refused_at_its_lines(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    named = [int(number) for number in re.findall(r"line (\d+)", text.splitlines()[0])]
    assert named
    with pytest.raises(PrecedesError) as caught:
        compile_text(text, path.name)
    assert [diagnostic.span.line for diagnostic in caught.value.diagnostics if diagnostic.span] == named


def test_the_misspelt_predicate_is_named() -> None:
    with pytest.raises(PrecedesError, match=r"did you mean order_equivalent\?"):
        compile_text((CONTRACT / "bad" / "unknown-names.prec").read_text(encoding="utf-8"))


@pytest.mark.skipif(not SHARED.is_dir(), reason="the originals are not here")
def test_the_copies_are_the_originals() -> None:
    originals = sorted(SHARED.rglob("*.prec"))
    assert len(originals) >= 9
    for path in originals:
        copy = CONTRACT / path.relative_to(SHARED)
        assert copy.read_text(encoding="utf-8") == path.read_text(encoding="utf-8")
