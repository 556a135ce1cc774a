"""Compiles what only other machine code calls: to LLVM's intermediate code, and no further.

numba makes an executable of every function. One that is called by other machine code alone is linked into each of its
callers, and is optimized and translated there. Its own executable would never run, and to make it takes as long again.
"""

from __future__ import annotations

from typing import Any

from numba import _dynfunc
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompilerBase, DefaultPassBuilder
from numba.core.compiler_machinery import register_pass
from numba.core.typed_passes import NativeLowering


class _Intermediate(JITCodeLibrary):
    """Code that is linked into other code."""

    def _optimize_final_module(self) -> None:
        """What it is linked into is optimized as a whole."""

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._finalized = True

    def serialize_using_object_code(self) -> tuple[str, str, bytes]:
        """What is kept of it: there is no object code."""
        kept: tuple[str, str, bytes] = self.serialize_using_bitcode()
        return kept


@register_pass(mutates_CFG=True, analysis_only=False)
class _Lowering(NativeLowering):
    """As numba does it, without an executable."""

    _name = "lowering of a helper"

    def run_pass(self, state: Any) -> bool:
        """Lower a function."""
        state.library = _Intermediate(state.targetctx.codegen(), state.func_id.func_qualname)
        state.flags.no_compile = True
        super().run_pass(state)
        lowered = state["cr"]
        about, name = lowered.fndesc, lowered.fndesc.qualname
        entry = _dynfunc.make_function(about.lookup_module(), name, name, 0, lowered.env, (state.library,))
        state.targetctx.insert_user_function(entry, about, [state.library])
        state["cr"] = lowered._replace(cfunc=entry)
        return True


class HelperCompiler(CompilerBase):
    """numba's passes, with this lowering."""

    def define_pipelines(self) -> list[Any]:
        """The passes."""
        made = DefaultPassBuilder.define_nopython_pipeline(self.state)
        made.passes = [
            (_Lowering, text) if one is NativeLowering else (one, text) for one, text in made.passes
        ]
        made._finalized = False
        made.finalize()
        return [made]
