"""From sorted syntax to the core formula. All syntactic sugar is expanded here.

- A predicate is replaced by its definition; its bound variables get fresh names.
- A log variable is a receipt log. It becomes the entity that owns the log.
- `top(L)`, `last(L)` and `L[h]` may be undefined. An atom about one of them becomes "there is such a message,
  and the atom is true of it". So an atom about something undefined is false.
- A prefix or suffix of a log becomes the log with bounds on positions.
- `F per key` of a conjunction is the conjunction of what each part of it asks per key.
- `quiescent F` is "nothing is in flight implies F", and `always F` is F. Modes inside F have no effect.
- A membership `p in L` in the premise of an implication under `forall p`, or in a conjunction under `exists
  p`, moves into the range of the quantifier. So `forall p: p in L implies F` and `forall p in L: F` are the
  same formula, and ranges are judged as recorded.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final, assert_never, cast

from precedes.core import formula as core
from precedes.core.mode import always, quiescent
from precedes.language import syntax
from precedes.language.library import Library
from precedes.language.lowering.partial_terms import (
    Hoists,
    LoweringRefused,
    Part,
    fresh,
    precedes_in,
    within_log,
)
from precedes.language.lowering.terms import Deliveries, Environment, Installed, Related, Terms, Value
from precedes.language.restriction import mentions
from precedes.language.syntax import Sort
from precedes.language.vocabulary import RELATIONS

MAXIMUM_DEPTH: Final = 200
"""How deep a formula may be once definitions are written out."""
MAXIMUM_SIZE: Final = 100_000
"""How many nodes one formula may have; definitions that call each other twice grow fast."""


_DIMENSIONS: Final = {
    Sort.TIME: core.Dimension.TIME,
    Sort.DURATION: core.Dimension.DURATION,
    Sort.NUMBER: core.Dimension.NUMBER,
}


Element = core.MessageTerm | core.EntityTerm | core.DeliveryTerm | core.GroupTerm | core.ViewTerm
"""What stands before `in`."""


@dataclass(slots=True)
class Lowering:
    """One formula's lowering, and how many nodes it has come to."""

    terms: Terms
    size: int = 0

    # ---- formulas

    def formula(
        self,
        formula: syntax.Formula,
        environment: Environment,
        scope: frozenset[str],
        library: Library,
        depth: int,
    ) -> core.Formula:
        """The core of a formula.

        `scope` are the names of the variables around it; `library` is where its names are looked up.
        """
        self.size += 1
        if depth > MAXIMUM_DEPTH or self.size > MAXIMUM_SIZE:
            what = "deep" if depth > MAXIMUM_DEPTH else "large"
            raise LoweringRefused("N013", f"too {what} once its definitions are written out", formula.span)
        match formula:
            case syntax.Truth(value):
                return core.Truth(value)
            case syntax.Undetermined(why):
                return core.Undetermined(why)
            case syntax.Call():
                return self.call(formula, environment, scope, library, depth)
            case syntax.Compare() | syntax.Member() | syntax.Precedes() | syntax.HappensBefore():
                return self.atom(scope, lambda hoists: self.atomic(formula, environment, hoists))
            case syntax.Not(body):
                return core.Not(self.formula(body, environment, scope, library, depth + 1))
            case syntax.And(parts):
                return core.conjunction(
                    *(self.formula(p, environment, scope, library, depth + 1) for p in parts)
                )
            case syntax.Or(parts):
                return _disjunction([self.formula(p, environment, scope, library, depth + 1) for p in parts])
            case syntax.Implies(left, right):
                return core.Implies(
                    self.formula(left, environment, scope, library, depth + 1),
                    self.formula(right, environment, scope, library, depth + 1),
                )
            case syntax.Iff(left, right):
                return core.Iff(
                    self.formula(left, environment, scope, library, depth + 1),
                    self.formula(right, environment, scope, library, depth + 1),
                )
            case syntax.Quantified():
                return self.quantified(formula, environment, scope, library, depth)
            case syntax.InMode(in_quiescence, body):
                asked = self.formula(body, environment, scope, library, depth + 1)
                return quiescent(asked) if in_quiescence else always(asked)
            case syntax.Acyclic(first_name, second_name, body):
                one = core.MessageVariable(fresh(first_name.text, scope))
                other = core.MessageVariable(fresh(second_name.text, scope | {one.name}))
                inner = {**environment, first_name.text: one, second_name.text: other}
                names = scope | {one.name, other.name}
                return core.Acyclic(one, other, self.formula(body, inner, names, library, depth + 1))
            case syntax.Per(body, attributes=attributes):
                return per(attributes, self.formula(body, environment, scope, library, depth + 1))
            case _:
                assert_never(formula)

    def quantified(
        self,
        formula: syntax.Quantified,
        environment: Environment,
        scope: frozenset[str],
        library: Library,
        depth: int,
    ) -> core.Formula:
        """Quantifiers of one kind in a row are lowered together, so that guards reach their variables."""
        chain: list[tuple[core.Variable, core.Formula]] = []
        body: syntax.Formula = formula
        while isinstance(body, syntax.Quantified) and body.quantifier is formula.quantifier:
            outside, collection = environment, body.range
            for name in body.variables:
                variable, value = _bound(name, scope)
                scope = scope | {variable.name}
                range_: core.Formula = core.TRUTH
                if collection is not None:
                    hoists = Hoists(scope)
                    range_ = hoists.wrap(self.within(variable, collection, outside, hoists))
                chain.append((variable, range_))
                environment = {**environment, name.text: value}
            body = body.body
            depth += 1
            if depth > MAXIMUM_DEPTH:
                raise LoweringRefused("N013", "too deep once its definitions are written out", body.span)
        forall = formula.quantifier is syntax.Quantifier.FORALL
        guards, rest = _guards_of_forall(body) if forall else _guards_of_exists(body, environment, chain)
        for guard in guards:
            _place(self.formula(guard, environment, scope, library, depth + 1), chain)
        result = self.formula(rest, environment, scope, library, depth + 1)
        for variable, range_ in reversed(chain):
            result = (
                core.Forall(variable, range_, result) if forall else core.Exists(variable, range_, result)
            )
        return result

    def call(
        self, call: syntax.Call, environment: Environment, scope: frozenset[str], library: Library, depth: int
    ) -> core.Formula:
        related = environment.get(call.name)
        if isinstance(related, Related) and call.arguments is not None:
            return self.related(related, call, environment, scope, library, depth)
        if call.name in RELATIONS:
            return self.atom(scope, lambda hoists: self.relation(call, environment, hoists))
        definition = library.definition(call.name)
        home = library.home(call.name)
        hoists = Hoists(scope)
        inner: dict[str, Value] = {}
        chain: list[core.Variable] = []
        for index, parameter in enumerate(definition.parameters):
            name = parameter.name.text
            if call.arguments is None:
                variable, inner[name] = _bound(parameter.name, hoists.scope)
                hoists.scope |= {variable.name}
                chain.append(variable)
            else:
                inner[name] = self.terms.value(call.arguments[index], parameter.sort, environment, hoists)
        try:
            result = self.formula(definition.body, inner, hoists.scope, home, depth + 1)
        except LoweringRefused as refused:
            # The place to show is in the text at hand, not in the definition.
            raise LoweringRefused(refused.code, refused.message, call.span, refused.hint) from refused
        for variable in reversed(chain):
            result = core.Forall(variable, core.TRUTH, result)
        return hoists.wrap(result)

    def related(
        self,
        related: Related,
        call: syntax.Call,
        environment: Environment,
        scope: frozenset[str],
        library: Library,
        depth: int,
    ) -> core.Formula:
        """A relation that was given as an argument. Names in it mean what they do where it was written."""
        hoists = Hoists(scope)
        names = (related.relation.first.text, related.relation.second.text)
        messages = [self.terms.message(a, environment, hoists) for a in call.arguments or ()]
        inner = {**related.environment, **dict(zip(names, messages, strict=True))}
        return hoists.wrap(self.formula(related.relation.body, inner, hoists.scope, library, depth + 1))

    def atom(self, scope: frozenset[str], build: Callable[[Hoists], core.Formula]) -> core.Formula:
        hoists = Hoists(scope)
        return hoists.wrap(build(hoists))

    # ---- atoms

    def atomic(
        self,
        formula: syntax.Compare | syntax.Member | syntax.Precedes | syntax.HappensBefore,
        environment: Environment,
        hoists: Hoists,
    ) -> core.Formula:
        match formula:
            case syntax.Compare():
                return self.compare(formula, environment, hoists)
            case syntax.Member(element, collection):
                return self.member(element, collection, environment, hoists)
            case syntax.Precedes(first, log, second) if self.terms.sort_of(log) is Sort.DELIVERIES:
                return core.DeliveredBefore(
                    self.terms.delivery(first, environment),
                    self.terms.delivery(second, environment),
                    self.terms.deliveries(log, environment, hoists).entity,
                )
            case syntax.Precedes(first, log, second) if self.terms.sort_of(log) is Sort.VIEWS:
                return core.InstallsBefore(
                    self.terms.view(first, environment, hoists),
                    self.terms.view(second, environment, hoists),
                    self.terms.installed(log, environment, hoists).entity,
                )
            case syntax.Precedes(first, log, second):
                return precedes_in(
                    self.terms.message(first, environment, hoists),
                    self.terms.message(second, environment, hoists),
                    self.terms.log(log, environment, hoists),
                )
            case syntax.HappensBefore(first, second):
                return core.HappensBefore(
                    self.terms.event(first, environment, hoists),
                    self.terms.event(second, environment, hoists),
                )
            case _:
                assert_never(formula)

    def compare(self, compare: syntax.Compare, environment: Environment, hoists: Hoists) -> core.Formula:
        sort = self.terms.sort_of(compare.left) or self.terms.sort_of(compare.right)
        match compare.comparator:
            case syntax.Comparator.MORE:
                left, right, relation = compare.right, compare.left, core.Relation.LESS
            case syntax.Comparator.AT_LEAST:
                left, right, relation = compare.right, compare.left, core.Relation.AT_MOST
            case syntax.Comparator.LESS:
                left, right, relation = compare.left, compare.right, core.Relation.LESS
            case syntax.Comparator.AT_MOST:
                left, right, relation = compare.left, compare.right, core.Relation.AT_MOST
            case syntax.Comparator.EQUAL | syntax.Comparator.DIFFERENT:
                left, right, relation = compare.left, compare.right, core.Relation.EQUAL
            case _:
                assert_never(compare.comparator)
        result: core.Formula
        if sort is Sort.ENTITY:
            result = core.SameEntity(
                self.terms.entity(left, environment, hoists), self.terms.entity(right, environment, hoists)
            )
        elif sort is Sort.MESSAGE:
            result = core.SameMessage(
                self.terms.message(left, environment, hoists), self.terms.message(right, environment, hoists)
            )
        elif sort is Sort.DELIVERY:
            result = core.SameDelivery(
                self.terms.delivery(left, environment), self.terms.delivery(right, environment)
            )
        elif sort is Sort.GROUP:
            result = core.SameGroup(self.terms.group(left, environment), self.terms.group(right, environment))
        elif sort is Sort.VIEW:
            result = core.SameView(
                self.terms.view(left, environment, hoists), self.terms.view(right, environment, hoists)
            )
        elif sort is Sort.TEXT:
            result = core.SameText(
                self.terms.text(left, environment, hoists), self.terms.text(right, environment, hoists)
            )
        else:
            dimension = _DIMENSIONS[sort or Sort.NUMBER]
            result = core.Comparison(
                relation,
                self.terms.number(left, environment, hoists),
                self.terms.number(right, environment, hoists),
                dimension,
            )
        if compare.comparator is syntax.Comparator.DIFFERENT:
            # `x != y` is `not x = y`, also where the two speak of `top(L)`.
            result = core.Not(hoists.wrap(result))
            hoists.found.clear()
        return result

    def member(
        self, element: syntax.Term, collection: syntax.Term, environment: Environment, hoists: Hoists
    ) -> core.Formula:
        lowered = self.terms.value(element, self.terms.sort_of(element), environment, hoists)
        return self.within(cast(Element, lowered), collection, environment, hoists)

    def within(
        self, element: Element, collection: syntax.Term, environment: Environment, hoists: Hoists
    ) -> core.Formula:
        """The element is in the collection; sorts have made sure that it is of the right one."""
        if isinstance(collection, syntax.Apply) and collection.function == "dest":
            message = self.terms.message(collection.arguments[0], environment, hoists)
            if isinstance(element, core.GroupTerm):
                return core.AddressedTo(message, element)
            return core.IsDestination(cast(core.EntityTerm, element), message)
        if isinstance(collection, syntax.Apply) and collection.function == "members":
            return self.is_member(
                cast(core.EntityTerm, element), collection.arguments[0], environment, hoists
            )
        if isinstance(collection, syntax.EntitySet):
            entity = cast(core.EntityTerm, element)
            terms = [self.terms.entity(member, environment, hoists) for member in collection.members]
            return _disjunction([core.SameEntity(entity, term) for term in terms])
        sort = self.terms.sort_of(collection)
        if sort is Sort.DELIVERIES:
            owner = self.terms.deliveries(collection, environment, hoists).entity
            return core.DeliveredAt(cast(core.DeliveryTerm, element), owner)
        if sort is Sort.VIEWS:
            owner = self.terms.installed(collection, environment, hoists).entity
            return core.Installs(owner, cast(core.ViewTerm, element))
        if sort is Sort.GROUP or sort is Sort.VIEW:
            return _is_one(cast(core.GroupTerm | core.ViewTerm, element))
        logs = collection.parts if isinstance(collection, syntax.Shared) else (collection,)
        found = cast(core.MessageTerm, element)
        return core.conjunction(
            *(within_log(found, self.terms.log(log, environment, hoists)) for log in logs)
        )

    def is_member(
        self, entity: core.EntityTerm, of: syntax.Term, environment: Environment, hoists: Hoists
    ) -> core.Formula:
        if self.terms.sort_of(of) is Sort.GROUP:
            return core.IsMember(entity, self.terms.group(of, environment))
        return core.IsMember(entity, self.terms.view(of, environment, hoists))

    def relation(self, call: syntax.Call, environment: Environment, hoists: Hoists) -> core.Formula:
        arguments = call.arguments or ()
        match call.name:
            case "sent":
                return core.Sent(self.terms.message(arguments[0], environment, hoists))
            case "faulty":
                return core.Faulty(self.terms.entity(arguments[0], environment, hoists))
            case "in_flight":
                one_delivery, other_delivery = (self.terms.delivery(a, environment) for a in arguments)
                return core.InFlight(one_delivery, other_delivery)
            case "acknowledged":
                return core.Acknowledged(
                    self.terms.message(arguments[0], environment, hoists),
                    self.terms.entity(arguments[1], environment, hoists),
                )
            case "installs":
                return core.Installs(
                    self.terms.entity(arguments[0], environment, hoists),
                    self.terms.view(arguments[1], environment, hoists),
                )
            case "repeated" if self.terms.sort_of(arguments[1]) is Sort.VIEWS:
                return core.InstallsAgain(
                    self.terms.installed(arguments[1], environment, hoists).entity,
                    self.terms.view(arguments[0], environment, hoists),
                )
            case "repeated":
                log = self.terms.log(arguments[1], environment, hoists)
                if isinstance(log, Part):
                    raise LoweringRefused("N014", "repeated needs a whole log, not a part of one", call.span)
                return core.Repeated(self.terms.message(arguments[0], environment, hoists), log)
            case "concurrent":
                one, other = (self.terms.event(argument, environment, hoists) for argument in arguments)
                return core.conjunction(
                    _happened(one),
                    _happened(other),
                    core.Not(_same_event(one, other)),
                    core.Not(core.HappensBefore(one, other)),
                    core.Not(core.HappensBefore(other, one)),
                )
            case "marks_on_failure_line":
                return core.FailureLine()
            case _:
                raise AssertionError(f"{call.name} is in the vocabulary and not lowered")


def per(attributes: tuple[core.Attribute, ...], body: core.Formula) -> core.Formula:
    """The body asked of each part. Of each part both is both, of each part; and the mode is that of the whole."""
    if isinstance(body, core.And):
        return core.conjunction(*(per(attributes, part) for part in body.parts))
    if isinstance(body, core.Implies) and isinstance(body.left, core.Quiescent):
        return core.Implies(core.Quiescent(), per(attributes, body.right))
    return core.Per(attributes, body)


# ---- quantifiers -------------------------------------------------------------------------------------------


def _bound(name: syntax.Name, scope: frozenset[str]) -> tuple[core.Variable, Value]:
    """The core variable of a bound name, and what the name then stands for."""
    text = fresh(name.text, scope)
    match name.sort:
        case Sort.MESSAGE:
            message = core.MessageVariable(text)
            return message, message
        case Sort.ENTITY:
            entity = core.EntityVariable(text)
            return entity, entity
        case Sort.LOG:
            owner = core.EntityVariable(text)
            return owner, core.ReceiptLog(owner)
        case Sort.DELIVERY:
            delivery = core.DeliveryVariable(text)
            return delivery, delivery
        case Sort.DELIVERIES:
            receiver = core.EntityVariable(text)
            return receiver, Deliveries(receiver)
        case Sort.GROUP:
            group = core.GroupVariable(text)
            return group, group
        case Sort.VIEW:
            view = core.ViewVariable(text)
            return view, view
        case Sort.VIEWS:
            installer = core.EntityVariable(text)
            return installer, Installed(installer)
        case _:
            raise AssertionError(f"nothing is quantified over {name.sort}")


def _is_one(element: core.GroupTerm | core.ViewTerm) -> core.Formula:
    """It is a group or a view of the execution; a variable always is."""
    match element:
        case core.GroupVariable() | core.ViewVariable():
            return core.TRUTH
        case core.GroupNamed():
            return core.SameGroup(element, element)
        case core.ViewNamed() | core.ViewOf():
            return core.SameView(element, element)
        case _:
            assert_never(element)


def _conjuncts(formula: syntax.Formula) -> list[syntax.Formula]:
    if isinstance(formula, syntax.And):
        return [conjunct for part in formula.parts for conjunct in _conjuncts(part)]
    return [formula]


def _rejoined(conjuncts: list[syntax.Formula]) -> syntax.Formula:
    return conjuncts[0] if len(conjuncts) == 1 else syntax.And(tuple(conjuncts), conjuncts[0].span)


def _guards_of_forall(body: syntax.Formula) -> tuple[list[syntax.Formula], syntax.Formula]:
    """The leading memberships of what is implied, and the rest. A membership says no mode, and may leave one."""
    if isinstance(body, syntax.InMode):
        guards, rest = _guards_of_forall(body.body)
        return guards, replace(body, body=rest)
    guards = []
    while isinstance(body, syntax.Implies):
        conjuncts = _conjuncts(body.left)
        leading = 0
        while leading < len(conjuncts) and isinstance(conjuncts[leading], syntax.Member):
            leading += 1
        guards += conjuncts[:leading]
        if leading < len(conjuncts):
            return guards, syntax.Implies(
                _rejoined(conjuncts[leading:]), body.right, body.span
            ) if leading else body
        body = body.right
    return guards, body


def _guards_of_exists(
    body: syntax.Formula, environment: Environment, chain: list[tuple[core.Variable, core.Formula]]
) -> tuple[list[syntax.Formula], syntax.Formula]:
    """The leading memberships of the variables themselves, and the rest, which is never empty: what is all that is
    said of a variable is a statement and no range."""
    conjuncts = _conjuncts(body)
    owners = {variable for variable, _ in chain}
    leading = 0
    while leading < len(conjuncts) - 1:
        conjunct = conjuncts[leading]
        if not (isinstance(conjunct, syntax.Member) and isinstance(conjunct.element, syntax.Name)):
            break
        if conjunct.element.quoted or environment.get(conjunct.element.text) not in owners:
            break
        leading += 1
    return conjuncts[:leading], _rejoined(conjuncts[leading:]) if leading else body


def _place(guard: core.Formula, chain: list[tuple[core.Variable, core.Formula]]) -> None:
    """Add a guard to the range of the innermost variable that it speaks of, or else of the outermost."""
    for index in range(len(chain) - 1, -1, -1):
        variable, range_ = chain[index]
        if index == 0 or mentions(guard, variable):
            chain[index] = (variable, core.conjunction(range_, guard))
            return


# ---- events, numbers ---------------------------------------------------------------------------------------


def _happened(event: core.EventTerm) -> core.Formula:
    """The event is in the execution. An arrival is there where the send, as it must, happens before it."""
    match event:
        case core.SendEvent(message):
            return core.Sent(message)
        case core.DeliveryEvent(message, entity):
            return core.InLog(message, core.ReceiptLog(entity))
        case core.ArrivalEvent(message):
            return core.HappensBefore(core.SendEvent(message), event)
        case _:
            assert_never(event)


def _same_event(one: core.EventTerm, other: core.EventTerm) -> core.Formula:
    if isinstance(one, core.SendEvent) and isinstance(other, core.SendEvent):
        return core.SameMessage(one.message, other.message)
    if (
        type(one) is type(other)
        and not isinstance(one, core.SendEvent)
        and not isinstance(other, core.SendEvent)
    ):
        return core.conjunction(
            core.SameMessage(one.message, other.message), core.SameEntity(one.entity, other.entity)
        )
    return core.FALSEHOOD


def _disjunction(parts: list[core.Formula]) -> core.Formula:
    flat: list[core.Formula] = []
    for part in parts:
        flat.extend(part.parts if isinstance(part, core.Or) else (part,))
    return flat[0] if len(flat) == 1 else core.Or(tuple(flat))
