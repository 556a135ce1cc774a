"""What machine code has instead of `prefetch`: an instruction of the processor."""

from __future__ import annotations

from typing import Any, Final

from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic

_ADDRESS: Final = ir.IntType(8).as_pointer()
_FLAG: Final = ir.IntType(32)
_TO_BE_READ, _IN_ALL_CACHES, _DATA = _FLAG(0), _FLAG(3), _FLAG(1)


@intrinsic
def prefetch_instruction(_: Any, rows: Any, number: Any) -> Any:
    """Ask for a row."""
    assert number == types.int64

    def generate(context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        array = cgutils.create_struct_proxy(rows)(context, builder, arguments[0])
        skipped = builder.mul(arguments[1], cgutils.unpack_tuple(builder, array.strides)[0])
        place = builder.gep(builder.bitcast(array.data, _ADDRESS), [skipped])
        kind = ir.FunctionType(ir.VoidType(), [_ADDRESS, _FLAG, _FLAG, _FLAG])
        asking = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0")
        builder.call(asking, [place, _TO_BE_READ, _IN_ALL_CACHES, _DATA])
        return context.get_dummy_value()

    return types.none(rows, types.int64), generate
