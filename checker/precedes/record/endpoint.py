"""What the wrappers of all clients share: one end of a broker, and how its messages are named."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import Any, ClassVar, Final, Self, TypeAlias

from precedes.record.recorder import MESSAGE, Entity, Offer, Pending

Destinations: TypeAlias = Iterable[str | int] | Callable[[str], Iterable[str | int]]
Attributes: TypeAlias = dict[str, str | int | float]

NOBODY_KNOWS: Final = ("group:?",)
"""Destinations that are unknown: a client is not told who gets what it publishes."""


class RecordingWarning(UserWarning):
    """Something passed through a wrapper and was not recorded."""


class Endpoint:
    """An entity that sends and delivers through a client.

    Args:
        entity: Who it is.
        to: The entities that its messages are for, or a function from the topic to them. Without it they are unknown.
        name: A function from the body of a message to its name. With it, nothing is added to messages. The
            one who delivers then learns neither the sender nor its clock from them.
    """

    def __init__(
        self, entity: Entity, to: Destinations | None, name: Callable[[bytes], str | int] | None
    ) -> None:
        if isinstance(to, str):
            raise TypeError(f"to={to!r} is one name; write to=[{to!r}]")
        self.entity = entity
        self._to = list(to) if isinstance(to, Iterable) else to
        self._name = name

    @property
    def names_by_body(self) -> bool:
        """The name of a message is in its body, and not in headers."""
        return self._name is not None

    def offer(self, topic: str, body: object, attributes: Mapping[str, str | int | float]) -> Offer:
        """Begin a send. The headers of the offer are empty if the body names the message."""
        to = self._to(topic) if callable(self._to) else self._to
        message = None if self._name is None else self._name(as_bytes(body))
        carried = {"topic": topic, **attributes}
        offer = self.entity.offer(message, NOBODY_KNOWS if to is None else to, attributes=carried)
        if self._name is not None:
            offer.headers = {}
        return offer

    def deliver(
        self, headers: Mapping[str, Any] | None, body: object, attributes: Mapping[str, str | int | float]
    ) -> str | None:
        """Record a delivery. Returns the message's name, or None if it has none."""
        if self._name is not None:
            headers = {MESSAGE: str(self._name(as_bytes(body)))}
        elif not headers or MESSAGE not in headers:
            warnings.warn(
                f"{self.entity.name} got a message without the header {MESSAGE}, which is not recorded; "
                "wrap its sender, too, or say how the body names it: name=...",
                RecordingWarning,
                stacklevel=2,
            )
            return None
        return self.entity.deliver(headers, attributes=attributes)


class Delegate:
    """Stands for an object of a client and has everything that it has."""

    UNRECORDED: ClassVar[frozenset[str]] = frozenset()
    """Methods that send or deliver and are not recorded."""

    def __init__(self, wrapped: Any, endpoint: Endpoint) -> None:
        self._wrapped = wrapped
        self._endpoint = endpoint

    def __enter__(self) -> Self:
        self._wrapped.__enter__()
        return self

    def __exit__(self, *error: object) -> Any:
        return self._wrapped.__exit__(*error)

    async def __aenter__(self) -> Self:
        await self._wrapped.__aenter__()
        return self

    async def __aexit__(self, *error: object) -> Any:
        return await self._wrapped.__aexit__(*error)

    def __getattr__(self, name: str) -> Any:
        if name in self.UNRECORDED:
            warnings.warn(f"what `{name}` does is not recorded", RecordingWarning, stacklevel=2)
        return getattr(self._wrapped, name)


def settle(call: Callable[[], Any], done: Callable[[Any], Any], failed: Callable[[], None]) -> Any:
    """Call, and say how it ended. If the call gives an awaitable, so does this."""
    try:
        result = call()
    except BaseException:
        failed()
        raise
    return _awaited(result, done, failed) if inspect.isawaitable(result) else done(result)


async def _awaited(result: Awaitable[Any], done: Callable[[Any], Any], failed: Callable[[], None]) -> Any:
    try:
        value = await result
    except BaseException:
        failed()
        raise
    return done(value)


def settle_offer(
    offer: Offer, call: Callable[[], Any], told: Callable[[Any], Attributes | None] = lambda _: {}
) -> Any:
    """Call what sends. The send is recorded if it returns, with what it told; None says that nothing was sent."""

    def done(result: Any) -> Any:
        attributes = told(result)
        if attributes is None:
            offer.refused()
        else:
            offer.accepted(attributes)
        return result

    return settle(call, done, offer.refused)


def settle_pending(pending: Iterable[Pending], call: Callable[[], Any]) -> Any:
    """Call what acknowledges; the events are recorded if it returns."""
    events = list(pending)

    def done(result: Any) -> Any:
        for event in events:
            event.record()
        return result

    return settle(call, done, lambda: None)


def as_bytes(body: object) -> bytes:
    """A body as it travels: clients take text and numbers, too."""
    match body:
        case None:
            return b""
        case bytes() | bytearray() | memoryview():
            return bytes(body)
        case _:
            return str(body).encode()


def as_text(value: object) -> str:
    """Keys and names, which some clients give as bytes and some as text."""
    return value.decode(errors="backslashreplace") if isinstance(value, bytes) else str(value)
