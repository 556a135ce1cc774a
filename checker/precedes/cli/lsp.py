"""`precedes lsp`."""

from __future__ import annotations

import click

from precedes.core.exit_codes import Exit


@click.command()
@click.option(
    "--stdio", is_flag=True, expose_value=False, help="Use standard input and output, as is done in any case."
)
def lsp() -> Exit:
    """Run the language server, which an editor starts for .prec files.

    It needs `pip install 'precedes[editor]'`. docs/how-to/editor.md says how to set up an editor.
    """
    from precedes.core.diagnostics import usage

    try:
        from precedes.editor.server import serve
    except ModuleNotFoundError as error:
        hint = "install it: pip install 'precedes[editor]'"
        raise usage(f"the language server needs {error.name}, which is not installed here", hint) from error
    serve()
    return Exit.HOLDS
