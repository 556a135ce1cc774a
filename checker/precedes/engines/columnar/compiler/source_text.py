"""The text of generated functions: lines, names, and what the functions read and build.

A `Code` is a piece of an expression; `Source` collects the statements of one function. Neither knows of
formulas.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from precedes.core.formula import Attribute
from precedes.engines.columnar.execution_source import Sort
from precedes.engines.columnar.kernel_columns import columns_read

LONGEST: Final = 400
"""Characters of an expression beyond which it is split, so that neither Python nor numba meets deep
parentheses.
"""


Extent = Literal[
    "one",
    "entities",
    "messages",
    "events",
    "receipts",
    "sends",
    "views",
    "groups",
    "members",
    "parts",
    "part",
]
"""How many things a loop goes through in one execution: all of a kind, those of one entity (`receipts`, `sends`), of
one group or view (`members`), or of one part (`part`).
"""


@dataclass(frozen=True, slots=True)
class Code:
    """An expression: a Python condition, or one of the integers of `precedes.core.verdict`."""

    text: str
    boolean: bool

    @property
    def value(self) -> str:
        """The expression as a three-valued integer."""
        if not self.boolean:
            return self.text
        return {"True": "0", "False": "-1"}.get(self.text, f"(0 if {self.text} else -1)")

    @property
    def true(self) -> str:
        """The condition that it is true."""
        return self.text if self.boolean else f"{self.text} == 0"

    @property
    def not_false(self) -> str:
        """The condition that it is not false."""
        return self.text if self.boolean else f"{self.text} != -1"


YES: Final = Code("True", True)
NO: Final = Code("False", True)


def all_of(conditions: Sequence[str]) -> str:
    """The condition that all of these are true."""
    wanted = [condition for condition in conditions if condition != "True"]
    if "False" in wanted:
        return "False"
    if not wanted:
        return "True"
    return wanted[0] if len(wanted) == 1 else f"({' and '.join(wanted)})"


def guarded(condition: str, code: Code) -> Code:
    """`code` where the condition is true, false elsewhere."""
    if condition == "True":
        return code
    if code.boolean:
        return Code(all_of([condition, code.text]), True)
    return Code(f"({code.text} if {condition} else -1)", False)


def inverse(code: Code) -> Code:
    """Kleene's not."""
    if not code.boolean:
        return Code(f"negated({code.text})", False)
    constant = {"True": NO, "False": YES}.get(code.text)
    return Code(f"(not {code.text})", True) if constant is None else constant


def both(codes: Sequence[Code]) -> Code:
    """Kleene's and: false has all bits, so that on integers it is the bitwise or."""
    condition = all_of([code.text for code in codes if code.boolean])
    values = [code.text for code in codes if not code.boolean]
    if not values or condition == "False":
        return Code(condition, True)
    return guarded(condition, Code(values[0] if len(values) == 1 else f"({' | '.join(values)})", False))


def either(codes: Sequence[Code]) -> Code:
    """Kleene's or."""
    conditions = [code.text for code in codes if code.boolean and code.text != "False"]
    values = [code.text for code in codes if not code.boolean]
    if "True" in conditions:
        return YES
    condition = conditions[0] if len(conditions) == 1 else f"({' or '.join(conditions)})"
    if not values:
        return Code(condition, True) if conditions else NO
    value = values[0]
    for other in values[1:]:
        value = f"either({value}, {other})"
    return Code(f"(0 if {condition} else {value})" if conditions else value, False)


def equal(left: Code, right: Code) -> Code:
    """Kleene's iff."""
    if left.boolean and right.boolean:
        return Code(f"(({left.text}) == ({right.text}))", True)
    return Code(f"same({left.value}, {right.value})", False)


@dataclass(frozen=True, slots=True)
class Carried:
    """A column made of what messages and deliveries carry (`precedes.engines.columnar.parts`): the values of one
    attribute of messages or (`made`) of deliveries, or of the parts that some attributes make, one of their columns.
    """

    kind: Literal["values", "made", "part", "starts", "firsts", "member_starts", "members"]
    attributes: tuple[Attribute, ...]


@dataclass(slots=True)
class Needs:
    """What all functions of one source need together.

    columns     of the executions, and scalars
    tables      to be built for every execution (see `tables`)
    named       the local variable that has the number of what is called by its name, by sort and name
    carried     columns of what messages carry, by what they are
    texts       texts that a formula names, in the order of their codes in the column `text_codes`
    relations   how many scratch columns for relations between messages
    chained     the loop variables that a witness may show
    functions   parts that became functions of their own
    extents     of each loop, what it and the loops around it go through
    """

    columns: dict[str, None] = field(default_factory=dict)
    tables: dict[str, None] = field(default_factory=dict)
    named: dict[tuple[Sort, str], str] = field(default_factory=dict)
    carried: dict[Carried, str] = field(default_factory=dict)
    texts: dict[str, int] = field(default_factory=dict)
    relations: int = 0
    chained: dict[str, None] = field(default_factory=dict)
    functions: list[str] = field(default_factory=list)
    extents: list[tuple[Extent, ...]] = field(default_factory=list)
    count: int = 0


@dataclass(slots=True)
class Source:
    """The statements of one function; `depth` is the current indentation, `loops` how many loops are open."""

    needs: Needs
    depth: int
    loops: int
    lines: list[str] = field(default_factory=list)

    def fresh(self, kind: str) -> str:
        """A name that is not in use."""
        self.needs.count += 1
        return f"{kind}_{self.needs.count}"

    def line(self, text: str) -> None:
        """Add a statement."""
        self.lines.append("    " * self.depth + text)

    @contextmanager
    def block(self, header: str) -> Iterator[None]:
        """Add a compound statement; what is added within the context is its body."""
        self.line(header)
        loop = header.startswith("for ")
        self.depth += 1
        self.loops += loop
        yield
        self.depth -= 1
        self.loops -= loop

    def assigned(self, code: Code, kind: str = "value") -> Code:
        """The expression under a name, if it is not a name or a constant already."""
        if code.text.isidentifier() or code.text.lstrip("-").isdigit():
            return code
        name = self.fresh(kind)
        self.line(f"{name} = {code.text}")
        return Code(name, code.boolean)

    def column(self, name: str) -> str:
        """The name of a column or scalar, which is thereby read."""
        self.needs.columns[name] = None
        return name

    def carried(self, column: Carried) -> str:
        """The name of a column of what messages carry."""
        return self.needs.carried.setdefault(column, f"carried_{column.kind}_{len(self.needs.carried)}")

    def text_code(self, text: str) -> str:
        """The code of a text in the batch; one that no message carries has none of theirs."""
        return f"text_codes[{self.needs.texts.setdefault(text, len(self.needs.texts))}]"

    def call(self, function: Callable[..., Any], arguments: str) -> str:
        """A call of a function, which reads columns of `columns`."""
        for name in sorted(columns_read(function)):
            self.column(name)
        return f"{function.__name__}({arguments})"

    def table(self, name: str) -> None:
        """Have a table built."""
        self.needs.tables[name] = None
