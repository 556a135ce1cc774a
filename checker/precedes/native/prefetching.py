"""Memory that is asked for before it is read. As plain Python it does nothing.

A look-up in a table that is larger than the caches waits for memory as long as some hundred steps take. Where it is
known what will be looked up, that is asked for, and something else is done in between.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt


def prefetch(rows: npt.NDArray[np.int32], number: int) -> None:
    """Ask for a row, or a number of an array of one dimension. It need not be there."""


@cache
def prefetching() -> Any:
    """What machine code has instead."""
    from llvmlite import ir
    from numba.core import cgutils, types
    from numba.extending import intrinsic

    @intrinsic
    def asked(_: Any, rows: Any, number: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            array = cgutils.create_struct_proxy(rows)(context, builder, arguments[0])
            address, flag = ir.IntType(8).as_pointer(), ir.IntType(32)
            skipped = builder.mul(arguments[1], cgutils.unpack_tuple(builder, array.strides)[0])
            place = builder.gep(builder.bitcast(array.data, address), [skipped])
            asking = cgutils.get_or_insert_function(
                builder.module, ir.FunctionType(ir.VoidType(), [address, flag, flag, flag]), "llvm.prefetch.p0"
            )
            # To be read, kept in all caches, and it is data.
            builder.call(asking, [place, flag(0), flag(3), flag(1)])
            return context.get_dummy_value()

        return types.none(rows, types.int64), generate

    return asked
