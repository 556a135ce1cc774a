"""Named tuples of arrays that machine code takes by their address.

numba hands a tuple of arrays on as seven numbers for each array, in every call. Tables of forty arrays are 280
parameters of each function, which takes longer to compile than all that the functions do. Here a tuple is one pointer,
and a field is read from where it points when it is used. Nothing writes the tuple while machine code runs, and LLVM is
told so: it reads a field once, even where arrays are written in between.

A tuple is passed in and handed on, and never made or returned by machine code. Its arrays are not counted.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba.core import cgutils, types
from numba.core.datamodel import models, register_default
from numba.core.imputils import impl_ret_borrowed, lower_getattr_generic
from numba.core.typing.templates import AttributeTemplate
from numba.extending import NativeValue, infer_getattr, typeof_impl, unbox

_UNCHANGED = "invariant.load"


class TupleAddress(types.Type):
    """The type of the address of a named tuple."""

    def __init__(self, fields: Any) -> None:
        """`fields`: the type of the tuple itself."""
        self.fields = fields
        super().__init__(f"TupleAddress({fields})")

    @property
    def key(self) -> Any:
        """What makes two of these types one."""
        return self.fields

    def field(self, name: str) -> Any:
        """The type of a field; None where there is none of this name."""
        named = self.fields.fields
        return self.fields.types[named.index(name)] if name in named else None


@register_default(TupleAddress)
class _Model(models.PrimitiveModel):
    """One pointer."""

    def __init__(self, manager: Any, of: TupleAddress) -> None:
        super().__init__(manager, of, manager.lookup(of.fields).get_value_type().as_pointer())


@infer_getattr
class _Fields(AttributeTemplate):
    key = TupleAddress

    def generic_resolve(self, of: TupleAddress, name: str) -> Any:
        """The type of a field."""
        return of.field(name)


@lower_getattr_generic(TupleAddress)
def _read(context: Any, builder: Any, of: TupleAddress, address: Any, name: str) -> Any:
    """A field, each part of it by itself: LLVM does not look into a structure that is read as one."""
    wanted = of.field(name)
    place = cgutils.gep_inbounds(builder, address, 0, of.fields.fields.index(name))
    unchanged = builder.module.add_metadata([])
    if not isinstance(wanted, types.Array):
        value = builder.load(place)
        value.set_metadata(_UNCHANGED, unchanged)
        return impl_ret_borrowed(context, builder, wanted, value)
    array = cgutils.create_struct_proxy(wanted)(context, builder)
    stored = context.get_value_type(wanted)
    for number, part in enumerate(("meminfo", "parent", "nitems", "itemsize", "data", "shape", "strides")):
        kind = stored.elements[number]
        where = cgutils.gep_inbounds(builder, place, 0, number)
        setattr(array, part, _part(builder, kind, where, unchanged, counted=part in ("meminfo", "parent")))
    return impl_ret_borrowed(context, builder, wanted, array._getvalue())


def _part(builder: Any, kind: Any, where: Any, unchanged: Any, *, counted: bool) -> Any:
    """A part of an array. Its owners are left out: nobody counts who has it."""
    if counted:
        return ir.Constant(kind, None)
    if not isinstance(kind, ir.ArrayType):
        value = builder.load(where)
        value.set_metadata(_UNCHANGED, unchanged)
        return value
    whole = ir.Constant(kind, ir.Undefined)
    for k in range(kind.count):
        value = builder.load(cgutils.gep_inbounds(builder, where, 0, k))
        value.set_metadata(_UNCHANGED, unchanged)
        whole = builder.insert_value(whole, value, k)
    return whole


@unbox(TupleAddress)
def _taken(of: TupleAddress, value: Any, call: Any) -> NativeValue:
    """Take the arrays of a tuple of Python, and keep them as long as the call lasts."""
    arrays = call.unbox(of.fields, value)
    address = cgutils.alloca_once_value(call.builder, arrays.value)
    return NativeValue(address, is_error=arrays.is_error, cleanup=arrays.cleanup)


def address_type(tuple_type: type, fields: Any) -> TupleAddress:
    """The type of the address of a tuple. `fields`: the type of the tuple itself."""

    def typeof(value: Any, purpose: Any) -> TupleAddress:
        return TupleAddress(
            types.BaseTuple.from_types([typeof_impl(each, purpose) for each in value], tuple_type)
        )

    typeof_impl.register(tuple_type)(typeof)
    return TupleAddress(fields)
