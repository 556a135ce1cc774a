"""Messages of which a trace does not say whom they are for, or who sent them."""

from __future__ import annotations

from pathlib import Path

import pytest

from precedes.core.columns import Batch
from precedes.core.execution import UNKNOWN_NAME
from precedes.core.transposition import execution_of
from precedes.core.verdict import TRUE, Reason, verdict
from precedes.engines.columnar.batch_scan import scan
from precedes.engines.reference import evaluate
from precedes.language.library import standard_library
from precedes.language.loader import compile_text
from precedes.language.requirements import requirement
from precedes.language.scenario_printer import as_scenario
from precedes.logic.plan import plan
from precedes.traces import Notices
from precedes.traces.batches import read_batches
from precedes.traces.layout.conversion import convert
from precedes.traces.options import TraceOptions

OPEN = """
{"execution":"x","entity":"P","event":"send","message":"a","dest":["group:?"]}
{"execution":"x","entity":"P","event":"send","message":"b","dest":["C","group:?"]}
{"execution":"x","entity":"C","event":"deliver","message":"a"}
{"execution":"x","entity":"C","event":"deliver","message":"b"}
{"execution":"x","entity":"D","event":"deliver","message":"a"}
"""
UNSENT = """
{"execution":"x","entity":"C","event":"deliver","message":"a","sender":"?"}
{"execution":"x","entity":"C","event":"deliver","message":"b","sender":"?"}
{"execution":"x","entity":"D","event":"deliver","message":"a","sender":"?"}
{"execution":"x","entity":"D","event":"deliver","message":"b","sender":"?"}
"""


def read(text: str, folder: Path, *others: str, options: TraceOptions | None = None) -> Batch:
    """The one batch of files with these texts, as read from them and from a columnar file."""
    paths = []
    for number, lines in enumerate((text, *others)):
        paths.append(folder / f"{number}.jsonl")
        paths[-1].write_text(lines.strip() + "\n", encoding="utf-8")
    [batch] = read_batches(paths, options or TraceOptions(), Notices())
    convert(paths, folder / "columnar.parquet", Notices())
    [again] = read_batches([folder / "columnar.parquet"], options or TraceOptions(), Notices())
    assert execution_of(again, 0) == execution_of(batch, 0)
    return batch


def judged(batch: Batch, *asked: str) -> dict[str, str]:
    """The verdicts by name, on which the scan and the definition agree."""
    library = standard_library()
    wanted = [requirement(text, library) for text in asked]
    found = scan(batch, plan(wanted))
    values = {name: int(value) for name, value in zip(found.names, found.values[0], strict=True)}
    execution = execution_of(batch, 0)
    for one in wanted:
        assert values[one.name] == evaluate(one.formula, execution), one.name
    return {one.name: verdict(values[one.name]).value for one in wanted}


def test_whom_a_message_is_for_is_not_known(tmp_path: Path) -> None:
    batch = read(OPEN, tmp_path)
    assert judged(
        batch,
        *(
            "order_equivalent",
            "order_preserving",
            "no_creation",
            "agreement",
            "SP",
            "ST",
            "delivered_where_addressed",
        ),
        *(
            "once_per_group",
            "kept_by_groups",
            "causal_order",
            'exists p: "C" in dest(p)',
            "forall g in groups: false",
        ),
    ) == {
        "order_equivalent": "holds",
        "order_preserving": "holds",
        "no_creation": "holds",
        "agreement": "unknown",
        "SP": "unknown",
        "ST": "unknown",
        "delivered_where_addressed": "unknown",
        "once_per_group": "holds",
        "kept_by_groups": "holds",
        "causal_order": "holds",
        'exists p: "C" in dest(p)': "holds",
        "forall g in groups: false": "holds",
    }
    execution = execution_of(batch, 0)
    assert execution.groups == {UNKNOWN_NAME: frozenset("PCD")}
    assert execution.named_groups == ()


def test_what_is_wrong_whoever_is_meant_is_violated(tmp_path: Path) -> None:
    turned = OPEN + '{"execution":"x","entity":"D","event":"deliver","message":"c"}\n'
    assert judged(read(turned, tmp_path), "ST", "no_creation") == {
        "ST": "violated",
        "no_creation": "violated",
    }


def test_a_named_group_may_be_meant_too(tmp_path: Path) -> None:
    rows = OPEN + '{"execution":"x","entity":"E","event":"local","group":"g"}\n'
    assert judged(read(rows, tmp_path), "kept_by_groups", "once_per_group") == {
        "kept_by_groups": "unknown",
        "once_per_group": "holds",
    }


def test_who_sent_a_message_is_not_known(tmp_path: Path) -> None:
    batch = read(UNSENT, tmp_path)
    assert judged(
        batch,
        *(
            "order_equivalent",
            "no_creation",
            "no_duplication",
            "order_preserving",
            "agreement",
            "causal_order",
        ),
        *("local_order", "fifo_delivery", "exists p: sent(p)", "ST"),
    ) == {
        "order_equivalent": "holds",
        "no_creation": "unknown",
        "no_duplication": "holds",
        "order_preserving": "unknown",
        "agreement": "unknown",
        "causal_order": "unknown",
        "local_order": "unknown",
        "fifo_delivery": "unknown",
        "exists p: sent(p)": "unknown",
        "ST": "unknown",
    }
    assert execution_of(batch, 0).doubt == Reason.SEND_NOT_LOGGED


def test_a_send_in_another_file_is_known(tmp_path: Path) -> None:
    sends = "\n".join(
        f'{{"execution":"x","entity":"P","event":"send","message":"{name}","dest":["C","D"]}}'
        for name in "ab"
    )
    batch = read(UNSENT, tmp_path, sends)
    assert list(batch.entity_names) == ["C", "D", "P"]
    assert judged(batch, "ST", "causal_delivery") == {"ST": "holds", "causal_delivery": "holds"}


@pytest.mark.parametrize("first", ["?", "P"])
def test_a_sender_that_one_row_knows_is_known(first: str, tmp_path: Path) -> None:
    other = "P" if first == "?" else "?"
    rows = "\n".join(
        f'{{"execution":"x","entity":"{entity}","event":"deliver","message":"a","sender":"{sender}"}}'
        for entity, sender in (("C", first), ("D", other))
    )
    execution = execution_of(read(rows, tmp_path), 0)
    assert execution.messages["a"].sender == "P"
    assert not execution.doubt
    assert execution.entities == ("C", "D", "P")


def test_an_entity_may_be_called_so(tmp_path: Path) -> None:
    rows = UNSENT + '{"execution":"x","entity":"?","event":"local"}\n'
    execution = execution_of(read(rows, tmp_path), 0)
    assert execution.messages["a"].sender == "?"
    assert execution.history("?").events


def test_what_is_an_entity_of_one_execution_is_none_of_another(tmp_path: Path) -> None:
    other = '{"execution":"w","entity":"?","event":"local"}\n'
    for rows in (UNSENT, other + UNSENT):
        path = tmp_path / "t.jsonl"
        path.write_text(rows, encoding="utf-8")
        [batch] = read_batches([path], TraceOptions(), Notices())
        execution = execution_of(batch, batch.executions - 1)
        assert execution.entities == ("C", "D")
        assert execution.doubt == Reason.SEND_NOT_LOGGED


def test_it_can_be_written_as_a_scenario(tmp_path: Path) -> None:
    execution = execution_of(read(OPEN, tmp_path), 0)
    printed = as_scenario(execution, "open", ["expect unknown agreement", "expect order_equivalent"])
    [again] = compile_text(printed).scenarios
    assert again.execution.messages == execution.messages
    assert again.execution.groups == execution.groups
    for expectation in again.expectations:
        value = evaluate(expectation.requirement.formula, again.execution)
        assert (value == TRUE) == (expectation.expected is not verdict(int(Reason.GROUP_CHOOSES)))
