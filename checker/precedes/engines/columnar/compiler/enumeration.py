"""From a clause to the statements that go through everything it is false of.

The loops are those of a quantifier, but none is left at the first instance that decides, and a guard must be true for
certain.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack

from precedes.core.formula import TRUTH, And, Forall, Formula, ViewVariable
from precedes.core.traversal import free_variables
from precedes.engines.columnar.compiler.domains import Guard, domain, parts_named
from precedes.engines.columnar.compiler.source_text import YES
from precedes.engines.columnar.compiler.statements import Emission, letter_of
from precedes.logic.universals import Binder, Clause, universal


class Enumeration(Emission):
    """Writes the statements for a clause whose variables have different names.

    A variable that stands for a delivery has two values: its entity and its message.
    """

    def each(self, clause: Clause) -> None:
        """Write what notes the values of the binders' variables wherever the body is false."""
        self._each(clause.binders, clause.body, ())

    def _each(self, binders: Sequence[Binder], body: Formula, bound: tuple[str, ...]) -> None:
        source = self.source
        if not binders:
            value = self.value(body).value
            with source.block(f"if {value} == -1:"):
                for place, local in enumerate(bound):
                    with source.block("if found < capacity:"):
                        source.line(f"bindings[found * {len(bound)} + {place}] = {local}")
                source.line("found += 1")
            return
        (variable, extent), *rest = binders
        guards = [Guard(part, True) for part in (extent.parts if isinstance(extent, And) else (extent,))]
        inside = [guard for guard in guards if variable in free_variables(guard.formula)]
        naming = parts_named(Forall(variable, extent, universal(Clause(tuple(rest), body))))
        known, self._known = self._known, dict(self._known)
        with ExitStack() as nested:
            if isinstance(variable, ViewVariable):
                nested.enter_context(source.block(f"if not {self.terms.views_unknown()}:"))
            for guard in guards:
                if guard not in inside and guard.formula != TRUTH:
                    nested.enter_context(source.block(f"if {self._certain(guard)}:"))
            through = domain(variable, inside, naming, self.terms)
            if through.condition is not None:
                nested.enter_context(source.block(f"if {through.condition}:"))
            local = source.fresh(letter_of(variable))
            self.terms.scope[variable.name] = local
            index = local if through.column is None else source.fresh("index")
            with source.block(f"for {index} in range({through.bounds}):"):
                source.line("steps += 1")
                with source.block("if steps > budget:"):
                    source.line("return ~found")
                if through.column is not None:
                    source.line(f"{local} = {through.value(index)}")
                if through.exact is not None:
                    self._known[through.exact.formula] = YES
                for guard in inside:
                    if guard is not through.exact:
                        self._skip_unless(self._certain(guard))
                shown = (number for number in self.stands_for(variable, local) if number is not None)
                self._each(rest, body, (*bound, *shown))
            del self.terms.scope[variable.name]
        self._known = known

    def _certain(self, guard: Guard) -> str:
        """The condition that a guard is true."""
        condition = self.value(guard.formula).true
        self._known[guard.formula] = YES
        return condition
