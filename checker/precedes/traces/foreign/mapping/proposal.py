"""`precedes map`: a mapping for a log that nobody has described, as TOML with a reason for each guess.

What could not be guessed is TODO, so that the mapping is refused until somebody has filled it in.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from typing import Final

from precedes.core.counts import counted
from precedes.traces.foreign.mapping.definition import TODO
from precedes.traces.foreign.mapping.sample import Profile, Sample, sampled, time_written
from precedes.traces.formats.text_stream import rereadable_input
from precedes.traces.schema import LIBRARY, REDELIVERED

_WORDS: Final = (
    ("nack", r"nack|reject|requeue|abandon"),
    ("ack", r"ack|commit|complete|settle"),
    ("send", r"send|sent|publish|produce|emit|enqueue|\bout\b"),
    ("deliver", r"deliver|receiv|recv|consum|process|handl(?!er)|dequeue|\bgot\b|\bin\b"),
    ("crash", r"crash|stop|exit|down"),
    ("recover", r"recover|restart|start"),
)
"""What other vocabularies call events; the first that fits counts."""
_MOST_KINDS: Final = 12
_MOST_WORDS: Final = 3
"""A text of more words is a sentence, which says more than what happened."""
_SHOWN: Final = 4
_ENTITY: Final = (
    r"entity|process|proc|node|host|service|svc|client|consumer|instance|worker|actor|member|who|pid|pod"
)
_MESSAGE: Final = r"(msg|message|event|order|record)?_?(uu)?id|msg|message|offset|correlation"
_EXECUTION: Final = r"execution|run|trace|test|session|build|day|experiment"
_DEST: Final = r"dest|destinations?|to|recipients?|targets?|receivers?|queues?|routed_queues"
_SENDER: Final = r"sender|from|producer|origin|source|src|publisher"


def proposed(path: str) -> str:
    """A mapping for a log, as TOML; `-` is standard input. Raises PrecedesError for a file that cannot be read."""
    with rereadable_input():
        sample = sampled(path)
    kind = _kind(sample)
    rows = counted(len(sample.rows), "row")
    lines = [f"# Proposed from the first {rows} of {sample.shown}. Read each line before you use it."]
    for name, value in sample.entries:
        if name == "begins":
            lines.append("# begins: a record begins with a time; the lines after it are of the same record.")
        lines.append(f"{name} = {_quoted(value)}")
    lines += ["", *_fields(sample), ""]
    entity = _entity(sample, kind)
    lines += [
        *_execution(sample),
        *_entity_lines(sample, entity, kind),
        *_message(sample, entity, kind),
        *_time(sample),
    ]
    lines += [*_dest(sample, kind), *_sender(sample, entity), *_events(kind)]
    lines += _attributes(sample)
    return "\n".join(lines) + "\n"


def _quoted(text: str) -> str:
    if "\\" in text and "'" not in text and text.isprintable():
        return f"'{text}'"
    # TOML has the escapes of JSON but for halves of surrogate pairs, and takes no DEL.
    plain = text.encode("utf-8", "replace").decode()
    return json.dumps(plain, ensure_ascii=False).replace("\x7f", "\\u007f")


def _key(name: str) -> str:
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else _quoted(name)


def _comment(text: str) -> str:
    """A value within a comment: TOML has no line end or control character there."""
    return json.dumps(text).replace("\x7f", "\\u007f")


def _fields(sample: Sample) -> Iterator[str]:
    yield "# The fields of the log: how many values, and some of them."
    for each in sample.profiles:
        if each.values:
            rows = counted(len(each.values), "row")
            examples = ", ".join(_comment(value) for value in sorted(each.distinct)[:_SHOWN])
            yield f"#   {_comment(each.name)}: {len(each.distinct)} distinct in {rows}: {examples}"
        elif each.listed:
            yield f"#   {_comment(each.name)}: lists"


def _named(profile: Profile, names: str) -> bool:
    last = profile.name.rpartition(".")[2].lower()
    return re.fullmatch(rf"(.*_)?({names})(_?(id|name))?", last) is not None


def _kind(sample: Sample) -> Profile | None:
    """The field that says what happened: the one with the most known words among few."""
    best, most = None, 0
    for each in sample.profiles:
        values = each.distinct
        if 1 <= len(values) <= _MOST_KINDS and not any(map(_no_kind, values)):
            known = sum(_event(value) is not None for value in each.distinct)
            if known > most and 2 * known >= len(each.distinct):
                best, most = each, known
    return best


def _no_kind(value: str) -> bool:
    return value.isdigit() or len(value.split()) > _MOST_WORDS


def _event(word: str) -> str | None:
    return next((kind for kind, words in _WORDS if re.search(words, word.lower())), None)


def _entity(sample: Sample, kind: Profile | None) -> Profile | None:
    rest = [
        each for each in sample.profiles if each is not kind and each.values and time_written(each) is None
    ]
    full = [each for each in rest if len(each.values) == len(sample.rows) and not each.listed]
    return next((each for each in full if _named(each, _ENTITY)), None)


def _guess(name: str, chosen: str | None, why: str, others: Sequence[str]) -> Iterator[str]:
    yield f"# {name}: {why}"
    yield f"{name} = {_quoted(TODO if chosen is None else chosen)}"
    for other in others[:_SHOWN]:
        if other != chosen:
            yield f"# {name} = {_quoted(other)}"


def _execution(sample: Sample) -> Iterator[str]:
    found = [
        each for each in sample.profiles if _named(each, _EXECUTION) and len(each.values) == len(sample.rows)
    ]
    if found:
        why = f"what belongs together; {counted(len(found[0].distinct), 'value')} here"
        yield from _guess("execution", found[0].name, why, [each.name for each in found])
    else:
        yield "# execution: no field looks like a run, a test or a day, so that a file is one execution."
        yield '# execution = "FIELD"'


def _entity_lines(sample: Sample, entity: Profile | None, kind: Profile | None) -> Iterator[str]:
    few = [
        each.name
        for each in sample.profiles
        if each is not kind
        and time_written(each) is None
        and len(each.values) == len(sample.rows)
        and 1 < len(each.distinct) <= len(sample.rows) / 2
    ]
    if entity is None:
        why = "where it happened. TODO: which field is it? If each entity has its own file: {file = true}"
    else:
        why = f"where it happened, by its name; {counted(len(entity.distinct), 'value')} here"
    yield from _guess("entity", None if entity is None else entity.name, why, few)


def _message(sample: Sample, entity: Profile | None, kind: Profile | None) -> Iterator[str]:
    fields = {each.name.rpartition(".")[2].lower(): each.name for each in sample.profiles}
    parts = [fields[name] for name in ("topic", "partition", "offset") if name in fields]
    candidates = [
        each
        for each in sample.profiles
        if each not in (entity, kind) and each.values and time_written(each) is None
    ]
    repeated = [(each, _met(each, entity)) for each in candidates]
    found = sorted(
        (pair for pair in repeated if pair[1] or _named(pair[0], _MESSAGE)),
        key=lambda pair: (not _named(pair[0], _MESSAGE), -pair[1], -len(pair[0].distinct)),
    )
    others = [each.name for each, _ in found]
    if len(parts) == 3:
        template = "{" + parts[0] + "}-{" + parts[1] + "}@{" + parts[2] + "}"
        yield from _guess("message", template, "an offset alone repeats in each partition", others)
        return
    chosen = found[0] if found and _named(found[0][0], _MESSAGE) else None
    if chosen is None:
        why = (
            "which message. TODO: a field, or a template such as {topic}-{number}, that no two messages share"
        )
    elif chosen[1]:
        why = f"{chosen[1]} of {len(chosen[0].distinct)} values are in rows of several entities"
    else:
        why = "by its name; no value is in rows of several entities, so look whether it is right"
    yield from _guess("message", None if chosen is None else chosen[0].name, why, others)


def _met(profile: Profile, entity: Profile | None) -> int:
    """How many values are in rows of several entities; of several rows, if no entity is known."""
    where = {} if entity is None else dict(entity.values)
    seen: dict[str, set[str]] = {}
    for row, value in profile.values:
        seen.setdefault(value, set()).add(where.get(row, str(row)))
    return sum(len(each) > 1 for each in seen.values()) if len(seen) > 1 else 0


def _time(sample: Sample) -> Iterator[str]:
    found = [(each, form) for each in sample.profiles if (form := time_written(each)) is not None]
    if not found:
        yield "# time: no field has times since 1970, or dates. Without times, deadlines are unknown."
        yield '# time = {field = "FIELD", format = "epoch_ms"}'
        return
    for k, (each, form) in enumerate(found[:_SHOWN]):
        if k == 0:
            yield f"# time: such as {_comment(min(each.distinct))}"
            if TODO in form:
                yield '# TODO: in which zone? "UTC", "+09:00" or "Europe/Berlin"'
        yield f"{'# ' if k else ''}time = {{field = {_quoted(each.name)}, {form}}}"


def _dest(sample: Sample, kind: Profile | None) -> Iterator[str]:
    if kind is not None and not any(_event(value) == "send" for value in kind.distinct):
        return
    found = [each for each in sample.profiles if _named(each, _DEST)]
    if not found:
        yield "# dest: no field looks like it. Nobody knows whom a message was for, so losses are unknown."
        yield 'dest = "unknown"'
        yield '# dest = "everybody"'
        return
    yield "# dest: whom a message is for, by its name. If the text has several, add their separator."
    several = any(re.search(r"[,;]", value) for value in found[0].distinct)
    separator = ";" if any(";" in value for value in found[0].distinct) else ","
    more = f', separator = "{separator}"' if several else ""
    yield f"dest = {{field = {_quoted(found[0].name)}{more}}}"


def _sender(sample: Sample, entity: Profile | None) -> Iterator[str]:
    found = [each.name for each in sample.profiles if each is not entity and _named(each, _SENDER)]
    if found:
        yield from _guess("sender", found[0], "who sent it, by its name", found)


def _events(kind: Profile | None) -> Iterator[str]:
    if kind is None:
        yield "# event: no field has words such as publish and consume. TODO: what are these rows?"
        yield "# If a field says it, write tables [[event]], each with `is` and `when`. If a longer text says it:"
        yield "# when = {FIELD = {matches = 'publish'}}"
        yield f'event = {{const = "{TODO}"}}'
        yield '# event = {const = "deliver"}'
        return
    unknown = [value for value in sorted(kind.distinct) if _event(value) is None]
    if unknown:
        words = ", ".join(_comment(value) for value in unknown)
        yield f"# event: what are {_comment(kind.name)} = {words}?"
        yield '# Such rows are errors until an event below takes them. If they are no events: others = "ignore"'
    names: dict[str, list[str]] = {}
    for value in sorted(kind.distinct):
        names.setdefault(_event(value) or "", []).append(value)
    for event, values in names.items():
        if not event:
            continue
        yield ""
        yield "[[event]]"
        yield f'is = "{event}"'
        which = ", ".join(_quoted(value) for value in values)
        yield f"when = {{{_key(kind.name)} = {which if len(values) == 1 else f'[{which}]'}}}"


def _attributes(sample: Sample) -> list[str]:
    found: dict[str, str] = {}
    for each in sample.profiles:
        last = each.name.rpartition(".")[2].lower()
        name = "position" if last == "offset" else last
        if name in LIBRARY and name != REDELIVERED and each.values:
            found.setdefault(name, each.name)
    entries = [f"{name} = {_quoted(field)}" for name, field in found.items()]
    return ["", "[attributes]", *entries] if entries else []
