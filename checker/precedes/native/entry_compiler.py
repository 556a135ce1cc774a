"""Compiles a function to object code that needs nothing of numba where it runs.

Its way in takes two addresses: of the arguments, as `loaded_code` lays them out in cells of 8 bytes, and of where the
result goes. numba's own way in takes objects of Python, and is linked to numba's libraries.
"""

from __future__ import annotations

from typing import Any, Final

from llvmlite import ir
from numba.core import cgutils, types
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler_lock import global_compiler_lock

from precedes.native.loaded_code import ENTRY

_CELL: Final = ir.IntType(64)
_ADDRESS: Final = ir.IntType(8).as_pointer()
_MEMORY: Final = ir.LiteralStructType([_CELL, _ADDRESS, _ADDRESS, _ADDRESS, _CELL, _ADDRESS])
"""What stands before an array that a function makes, as numba has it (`MemInfo` in its nrt.cpp): how many references
there are, how to free it, with what, where the array is, its size, and who made room for it."""
_COUNT, _DATA = 0, 3
_OF_C: Final = {"malloc", "free", "memset", "memcpy", "memmove"}
"""What the code may call: every process has it."""


class _Standing(JITCodeLibrary):
    """Code that is translated, and not run in this process by numba."""

    def _optimize_final_module(self) -> None:
        """As numba does it. Nothing but the way in is seen from outside, so that only what it calls stays."""
        for one in (*self._final_module.functions, *self._final_module.global_variables):
            if not one.is_declaration and one.name != ENTRY:
                one.linkage = "internal"
        super()._optimize_final_module()

    def _finalize_final_module(self) -> None:
        foreign = {one.name for one in self._final_module.functions if one.is_declaration} - _OF_C
        foreign = {name for name in foreign if not name.startswith("llvm.")}
        assert not foreign, f"{self.name} needs {foreign}, which only numba has"
        self._finalized = True

    def object_code(self) -> bytes:
        """The translated code."""
        code: bytes = self._codegen._tm.emit_object(self._final_module)
        return code


@global_compiler_lock
def object_code(compiled: Any) -> bytes:
    """The object code of a function. `compiled`: what numba made of it as a helper, for one signature."""
    context, about = compiled.target_context, compiled.fndesc
    library = _Standing(context.codegen(), about.qualname)
    library.add_linking_library(compiled.library)
    module = context.create_module(ENTRY)
    _add_way_in(context, module, about)
    library.add_ir_module(module)
    library.add_ir_module(_memory(context))
    library.finalize()
    return library.object_code()


def _add_way_in(context: Any, module: Any, about: Any) -> None:
    """Add the function that takes arguments from cells. It returns what the function that it calls says of itself: 0
    where all went well. The result has three cells: what is returned, and where the text of an error is and how long.
    """
    convention = context.call_conv
    called = ir.Function(
        module, convention.get_function_type(about.restype, about.argtypes), about.llvm_func_name
    )
    way_in = ir.Function(module, ir.FunctionType(_CELL, [_CELL.as_pointer()] * 2), ENTRY)
    builder = ir.IRBuilder(way_in.append_basic_block())
    cells, result = way_in.args
    arguments, place = [], 0
    for of in about.argtypes:
        value, place = _taken(context, builder, of, cells, place)
        arguments.append(value)
    status, value = convention.call_function(builder, called, about.restype, about.argtypes, arguments)
    if about.restype != types.none:
        builder.store(value if value.type == _CELL else builder.zext(value, _CELL), result)
    failed = builder.and_(status.is_error, status.is_user_exc)
    with builder.if_then(failed, likely=False):
        error = builder.load(status.excinfoptr)
        for number, part in enumerate(
            (builder.ptrtoint(builder.extract_value(error, 0), _CELL), builder.extract_value(error, 1))
        ):
            cell = part if part.type == _CELL else builder.sext(part, _CELL)
            builder.store(cell, builder.gep(result, [_CELL(number + 1)]))
    code = status.code if status.code.type == _CELL else builder.sext(status.code, _CELL)
    builder.ret(builder.select(status.is_error, code, _CELL(0)))


def _taken(context: Any, builder: Any, of: Any, cells: Any, place: int) -> tuple[Any, int]:
    """A value of a type from the cells, and the next cell."""
    where = builder.gep(cells, [_CELL(place)])
    wanted = context.get_value_type(of)
    if isinstance(of, types.BaseTuple):
        values = []
        for each in of.types:
            value, place = _taken(context, builder, each, cells, place)
            values.append(value)
        return context.make_tuple(builder, of, values), place
    if isinstance(of, types.Array):
        # All parts of an array are of 8 bytes, and so are the cells.
        return builder.load(builder.bitcast(where, wanted.as_pointer())), place + 5 + 2 * of.ndim
    value = builder.load(where)
    if isinstance(wanted, ir.PointerType):
        return builder.inttoptr(value, wanted), place + 1
    return value if wanted == _CELL else builder.trunc(value, wanted), place + 1


def _memory(context: Any) -> Any:
    """What makes room for arrays and gives it back. numba has it in a library of its own."""
    module = context.create_module("memory")
    malloc = ir.Function(module, ir.FunctionType(_ADDRESS, [_CELL]), "malloc")
    free = ir.Function(module, ir.FunctionType(ir.VoidType(), [_ADDRESS]), "free")
    header = context.get_abi_sizeof(_MEMORY)

    made = ir.Function(
        module, ir.FunctionType(_ADDRESS, [_CELL, ir.IntType(32)]), "NRT_MemInfo_alloc_aligned"
    )
    size, alignment = made.args
    builder = ir.IRBuilder(made.append_basic_block())
    alignment = builder.zext(alignment, _CELL)
    room = builder.call(malloc, [builder.add(builder.add(size, alignment), _CELL(header))])
    with builder.if_then(cgutils.is_null(builder, room), likely=False):
        builder.ret(room)
    begin = builder.add(builder.ptrtoint(room, _CELL), _CELL(header))
    array = builder.add(begin, builder.sub(alignment, _CELL(1)))
    array = builder.sub(array, builder.urem(array, alignment))
    memory = builder.bitcast(room, _MEMORY.as_pointer())
    builder.store(ir.Constant(_MEMORY, None), memory)
    builder.store(_CELL(1), cgutils.gep_inbounds(builder, memory, 0, _COUNT))
    builder.store(builder.inttoptr(array, _ADDRESS), cgutils.gep_inbounds(builder, memory, 0, _DATA))
    builder.ret(room)

    freed = ir.Function(module, ir.FunctionType(ir.VoidType(), [_ADDRESS]), "NRT_MemInfo_call_dtor")
    builder = ir.IRBuilder(freed.append_basic_block())
    builder.call(free, freed.args)
    builder.ret_void()
    return module
