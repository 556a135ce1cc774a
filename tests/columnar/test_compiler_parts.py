"""What the compiler promises besides the right value: witnesses, laziness, depth, caching, machine code."""

import pickle
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import pytest

from precedes.core import cache_directory
from precedes.core import formula as f
from precedes.core.execution import Event, EventKind, Execution, History, Message
from precedes.core.transposition import batch_of
from precedes.core.verdict import FALSE, TRUE
from precedes.engines.columnar.compiler import machine_code
from precedes.engines.columnar.compiler.formula_compiler import compile_formula
from precedes.engines.columnar.compiler.functions import generate
from precedes.engines.columnar.compiler.terms import Facts
from precedes.engines.columnar.execution_source import BatchSource
from precedes.engines.reference import evaluate
from precedes.logic.recognition import DEFINITIONS
from tests.columnar.agreement import Case, case, disagreement, executions_alike

HERE, THERE = f.EntityVariable("i"), f.EntityVariable("j")
P, Q = f.MessageVariable("p"), f.MessageVariable("q")
KNOWN = Facts(complete=True, logged=True, ordered=True, direct=True)
"""What is known of most traces."""


def delivering(**logs: str) -> Execution:
    """E0 sends to all, in alphabetical order, one letter a message; the others have these receipt logs."""
    entities = ("E0", *logs)
    names = sorted(set("".join(logs.values())))
    sends = tuple(Event(EventKind.SEND, name) for name in names)
    histories = [History("E0", sends)]
    histories += [History(e, tuple(Event(EventKind.DELIVER, m) for m in log)) for e, log in logs.items()]
    messages = {name: Message(name, "E0", frozenset(entities)) for name in names}
    return Execution("x", tuple(histories), messages)


def witness(formula: f.Formula, execution: Execution) -> tuple[list[str], list[str]]:
    """The names that show the violation."""
    batch = batch_of([execution])
    values, witnesses = compile_formula(formula).run(BatchSource(batch), jit=False)
    assert values.tolist() == [FALSE]
    entities, messages = witnesses.of(0)
    return [batch.entity_names[e] for e in entities], [batch.message_names[m] for m in messages]


# ---- witnesses ----


def test_witness_has_the_variables_of_the_violation_in_order_of_the_loops() -> None:
    execution = delivering(E1="abcd", E2="abdc")
    assert witness(DEFINITIONS["order_preserving"], execution) == (["E2", "E0"], ["c", "d"])
    assert witness(DEFINITIONS["order_equivalent"], execution) == (["E1", "E2"], ["c", "d"])


def test_witness_of_a_conjunction_is_that_of_the_part_that_fails() -> None:
    parts = f.And(
        (DEFINITIONS["no_creation"], DEFINITIONS["no_duplication"], DEFINITIONS["order_equivalent"])
    )
    assert witness(parts, delivering(E1="ab", E2="ba")) == (["E1", "E2"], ["a", "b"])
    assert witness(parts, delivering(E1="ab", E2="abb")) == (["E2"], ["b"])


def test_witness_of_a_disjunction_is_that_of_every_part() -> None:
    either = f.Or((DEFINITIONS["no_duplication"], DEFINITIONS["order_equivalent"]))
    assert witness(either, delivering(E1="ab", E2="bab")) == (["E2", "E1", "E2"], ["b", "a", "b"])


def test_witness_of_a_negated_existential() -> None:
    never = f.Not(
        f.Exists(
            HERE, f.TRUTH, f.Exists(P, f.InLog(P, f.ReceiptLog(HERE)), f.Repeated(P, f.ReceiptLog(HERE)))
        )
    )
    assert witness(never, delivering(E1="abc", E2="abcc")) == (["E2"], ["c"])


def test_witness_without_variables_is_empty() -> None:
    assert witness(f.FALSEHOOD, delivering(E1="a")) == ([], [])


def test_witness_of_a_cycle_is_the_shortest() -> None:
    logs = {"E1": "abc", "E2": "bcd", "E3": "de", "E4": "ea", "E5": "dc"}
    _, messages = witness(DEFINITIONS["acyclic_order"], delivering(**logs))
    assert sorted(messages) == ["c", "d"]
    del logs["E5"]
    _, messages = witness(DEFINITIONS["acyclic_order"], delivering(**logs))
    turned = messages[messages.index("a") :] + messages[: messages.index("a")]
    assert turned in (["a", "c", "d", "e"], ["a", "b", "d", "e"])


# ---- shapes of formulas ----


def test_deep_connectives_and_many_binders() -> None:
    deep: f.Formula = f.Forall(P, f.InLog(P, f.ReceiptLog(HERE)), f.Sent(P))
    some = f.Exists(Q, f.TRUTH, f.Precedes(Q, P, f.ReceiptLog(HERE)))
    for depth in range(120):
        deep = f.Not(f.And((deep, f.TRUTH))) if depth % 3 else f.Implies(some, deep)
    many: f.Formula = f.Precedes(P, Q, f.ReceiptLog(HERE))
    for depth in range(24):
        binder = f.Forall if depth % 4 else f.Exists
        many = binder((P, Q, HERE)[depth % 3], f.TRUTH, many)
    execution = delivering(E1="b")
    for formula in (deep, many):
        closed = f.Forall(HERE, f.TRUTH, f.Forall(P, f.TRUTH, f.Exists(Q, f.TRUTH, formula)))
        assert disagreement(Case(closed, execution)) is None


def test_large_and_fractional_numbers() -> None:
    execution = delivering(E1="ab")
    for factor in (Fraction(1, 3), Fraction(10**17, 7), Fraction(-(10**25))):
        for constant in (Fraction(0), Fraction(1, 3), Fraction(10**30), Fraction(-(2**63))):
            for relation in f.Relation:
                measured = f.Scaled(factor, f.Size(f.ReceiptLog(f.EntityNamed("E1"))))
                number = f.Constant(constant, f.Dimension.NUMBER)
                formula = f.Comparison(relation, measured, number, f.Dimension.NUMBER)
                assert disagreement(Case(formula, execution)) is None


def test_ranges_prune_the_loops() -> None:
    def loops(formula: f.Formula) -> list[str]:
        lines = generate(formula, KNOWN).text.splitlines()
        return [line.strip() for line in lines if line.strip().startswith("for ")][1:]

    in_both = f.And((f.InLog(P, f.ReceiptLog(HERE)), f.InLog(P, f.SendLog(THERE))))
    formula = f.Forall(
        HERE,
        f.TRUTH,
        f.Exists(THERE, f.InLog(f.MessageNamed("m"), f.SendLog(THERE)), f.Forall(P, in_both, f.Sent(P))),
    )
    entity, sender, message = loops(formula)
    assert entity.endswith("in range(n):")
    assert ", only_" in sender
    assert "sent_offsets" in message


def test_what_does_not_depend_on_an_inner_variable_is_judged_outside() -> None:
    addressed = f.IsDestination(HERE, P)
    body = f.Implies(addressed, f.Precedes(P, Q, f.ReceiptLog(HERE)))
    text = generate(f.Forall(HERE, f.TRUTH, f.Forall(P, f.TRUTH, f.Forall(Q, f.TRUTH, body))), KNOWN).text
    outer, inner = text.split("for p_")[1:]
    assert "addressed[" in outer
    assert "addressed[" not in inner


# ---- what is loaded, sent and kept ----


def test_small_batches_are_judged_without_numba() -> None:
    program = (
        "import sys\n"
        "from precedes.core.transposition import batch_of\n"
        "from precedes.engines.columnar.compiler.formula_compiler import compile_formula\n"
        "from precedes.engines.columnar.execution_source import BatchSource\n"
        "from tests.columnar.agreement import case\n"
        "for seed in range(20):\n"
        "    compile_formula(case(seed).formula).run(BatchSource(batch_of([case(seed).execution])))\n"
        "print([name for name in ('numba', 'lark', 'z3', 'pyspark') if name in sys.modules])\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd=root()
    )
    assert done.stdout.strip() == "[]"


def test_compiled_formula_can_be_pickled() -> None:
    for seed in range(20):
        compiled = compile_formula(case(seed).formula)
        batch = batch_of([case(seed).execution])
        before = compiled.run(BatchSource(batch), jit=False)[0].tolist()
        assert pickle.loads(pickle.dumps(compiled)).run(BatchSource(batch), jit=False)[0].tolist() == before


def test_logs_of_unknown_interleaving_are_refused() -> None:
    sends_first = History(
        "E1", (Event(EventKind.SEND, "a"), Event(EventKind.DELIVER, "a")), interleaved=False
    )
    execution = Execution("x", (sends_first,), {"a": Message("a", "E1", frozenset({"E1"}))})
    with pytest.raises(ValueError, match="reference evaluator"):
        compile_formula(f.TRUTH).run(BatchSource(batch_of([execution])))


def test_text_is_kept_once_and_nowhere_if_that_is_impossible(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(cache_directory.PLACE, str(tmp_path / "kept"))
    path = machine_code.kept("text")
    assert path is not None
    assert path.read_text() == "text"
    assert [found.name for found in path.parent.iterdir()] == [path.name]
    written = path.stat().st_mtime_ns
    assert machine_code.kept("text") == path
    assert path.stat().st_mtime_ns == written
    (tmp_path / "file").write_text("")
    monkeypatch.setenv(cache_directory.PLACE, str(tmp_path / "file"))
    assert machine_code.kept("text") is None


@pytest.mark.parametrize(
    "names",
    [
        pytest.param(("acyclic_order",), id="cycles"),
        pytest.param(("acyclic_order", "delta_causal_order"), id="causes", marks=pytest.mark.slow),
    ],
)
def test_machine_code_says_the_same(
    names: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # One formula and one kind of batch: each takes seconds to compile.
    monkeypatch.setenv(cache_directory.PLACE, str(tmp_path))
    number = f.Comparison(
        f.Relation.AT_MOST,
        f.Scaled(Fraction(5, 2), f.VectorTime(f.SendEvent(P), HERE)),
        f.Sum(f.RecordedClock(f.DeliveryEvent(P, HERE), HERE), f.Position(P, f.SendLog(f.Sender(P), HERE))),
        f.Dimension.NUMBER,
    )
    numbers = f.Forall(HERE, f.TRUTH, f.Forall(P, f.InLog(P, f.ReceiptLog(HERE)), number))
    formula = f.And((*map(DEFINITIONS.__getitem__, names), numbers))
    met = set()
    for group in executions_alike(range(600)):
        if not group[0].complete or all(map(logged, group)):
            continue
        batch = batch_of(group)
        if batch.history_doubt is None:
            continue
        plain, shown = compile_formula(formula).run(BatchSource(batch), jit=False)
        compiled, also_shown = compile_formula(formula).run(BatchSource(batch), jit=True)
        assert compiled.tolist() == plain.tolist() == [evaluate(formula, execution) for execution in group]
        assert also_shown.entities.tolist() == shown.entities.tolist()
        assert also_shown.messages.tolist() == shown.messages.tolist()
        met |= set(plain.tolist())
    assert {TRUE, FALSE} < met
    assert [path.suffix for path in tmp_path.iterdir() if path.is_file()] == [".py"]


def logged(execution: Execution) -> bool:
    """Whether every send that a delivery names was logged."""
    return all(message.logged or message.sender is None for message in execution.messages.values())


def root() -> Path:
    """The folder from which the tests are modules."""
    return Path(__file__).parents[2]
