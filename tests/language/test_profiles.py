"""Profiles of brokers: what there is, how they are named, and what keeps and breaks each."""

from __future__ import annotations

from pathlib import Path

import pytest

from precedes.core.diagnostics import PrecedesError
from precedes.core.verdict import Verdict
from precedes.jobs.infer import askable
from precedes.language.errors import Mistakes
from precedes.language.library import Library, profile_library, standard_library
from precedes.language.loader import compile_text
from precedes.language.parsing.parser import parse, parse_sentence
from precedes.language.profiles import profile, profiles
from precedes.language.requirements import requirement
from tests.language.judging import wrong

FILES = sorted((Path(__file__).parents[2] / "specs" / "profiles").glob("*.prec"))
WANTED = {
    *("kafka_partition", "kafka_consumer_group"),
    *("rabbitmq_classic", "rabbitmq_quorum", "rabbitmq_stream"),
    *("nats_core", "nats_jetstream", "nats_jetstream_ordered", "redis_pubsub", "redis_stream"),
    *("mqtt_qos0", "mqtt_qos1", "mqtt_qos2", "sqs_fifo", "sqs_fifo_one_by_one", "service_bus_sessions"),
    *("pulsar_exclusive", "pulsar_failover", "pulsar_shared", "pulsar_key_shared"),
    *("corosync_cpg", "corosync_cpg_views", "etcd_watch", "etcd_watch_revisions", "zeromq_pubsub"),
    *("ros2_best_effort", "ros2_reliable", "ros2_reliable_keep_all"),
}


def test_every_broker_has_its_profiles() -> None:
    assert set(profiles()) == WANTED


@pytest.mark.parametrize("name", profile_library().own())
def test_every_definition_says_what_it_means_and_where_it_is_from(name: str) -> None:
    definition = profile_library().definition(name)
    assert definition.title
    assert definition.source


def test_the_profiles_have_no_mistakes() -> None:
    mistakes = Mistakes(None, ())
    profile_library().check(mistakes)
    assert mistakes.found == []


def test_there_are_scenarios() -> None:
    assert [path.stem for path in FILES] == ["brokers", "real_time", "sessions"]


@pytest.mark.parametrize("path", FILES, ids=[path.stem for path in FILES])
def test_the_scenarios_come_out_as_they_state(path: Path) -> None:
    compiled = compile_text(path.read_text(encoding="utf-8"), path.name)
    assert wrong(compiled) == []


@pytest.mark.parametrize("name", [*profiles(), "monotonic_writes", "monotonic_reads", "temporal_order"])
def test_every_profile_is_kept_by_a_scenario_and_broken_by_another(name: str) -> None:
    found = {
        expectation.expected
        for path in FILES
        for scenario in compile_text(path.read_text(encoding="utf-8"), path.name).scenarios
        for expectation in scenario.expectations
        if name in expectation.text.replace(",", " ").split()
    }
    assert {Verdict.HOLDS, Verdict.VIOLATED} <= found


def test_the_names_of_the_library_stay_as_they_are() -> None:
    library = standard_library()
    assert set(library.names()).isdisjoint(profile_library().own())
    assert set(askable(library)).isdisjoint(profiles())
    assert "kafka_partition" in library
    assert requirement("kafka_partition", library) == profile("kafka-partition")
    assert "kafka_topic" not in library


def test_a_profile_may_be_part_of_a_formula_and_of_a_definition() -> None:
    required = requirement("mqtt_qos1 per topic and no_creation", standard_library())
    assert [part.name for part in required.parts] == ["mqtt_qos1 per topic", "no_creation"]
    own = Library([parse("service mine := nats_core and no_creation")], standard_library())
    assert [part.name for part in requirement("mine", own).parts] == ["nats_core", "no_creation"]


def test_a_file_may_define_the_name_of_a_profile_again() -> None:
    own = Library([parse("service nats_core := order_equivalent")], standard_library())
    assert [part.name for part in requirement("nats_core", own).parts] == ["order_equivalent"]
    assert len(profile("nats-core").parts) == 2


def test_what_is_shipped_needs_no_definition() -> None:
    own = Library([parse("service mine := nats_core and no_creation")], standard_library())
    added = own.added(parse_sentence("mine implies mqtt_qos0").formula)
    assert [definition.name.text for definition in added] == ["mine"]


def test_how_a_profile_is_written() -> None:
    assert profile("kafka-partition") is profile("kafka_partition")
    assert profile("mqtt-qos1 per topic").name == "mqtt_qos1 per topic"


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("kafka-partion", "did you mean kafka_partition?"),
        ("ST", "`precedes list` prints the profiles"),
        ("nothing_skipped", "`precedes list` prints the profiles"),
        ("", "`precedes list` prints the profiles"),
    ],
)
def test_what_is_no_profile(text: str, hint: str) -> None:
    with pytest.raises(PrecedesError) as refused:
        profile(text)
    (diagnostic,) = refused.value.diagnostics
    assert diagnostic.code == "U001"
    assert diagnostic.hint is not None
    assert hint in diagnostic.hint
