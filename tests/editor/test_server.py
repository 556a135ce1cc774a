"""The server in a process of its own, asked as editors ask."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.command.running import precedes

TEXT = """\
# 😀 a character of two units
scenario s "😀" source "y"
cluster E1 E2
SL1: <  a{2} "😀"{2} b ]
RL2: < b a ]
expect ST
expect not causal_order
"""
URI = "file:///somewhere/a.prec"
WAIT = 60


def test_without_the_library_for_the_protocol(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "precedes.editor.server", raising=False)
    monkeypatch.setitem(sys.modules, "lsprotocol", None)
    ended = precedes("lsp")
    assert ended.code == 2
    assert "U001 the language server needs lsprotocol" in ended.err
    assert "pip install 'precedes[editor]'" in ended.err


@pytest.mark.slow
def test_a_session() -> None:
    asyncio.run(asyncio.wait_for(session(), WAIT * 2))


async def session() -> None:
    from lsprotocol import types as t
    from pygls.lsp.client import LanguageClient

    client = LanguageClient("test", "1")
    told: asyncio.Queue[Any] = asyncio.Queue()
    shown: list[str] = []

    @client.feature(t.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)
    def published(params: t.PublishDiagnosticsParams) -> None:
        told.put_nowait(params.diagnostics)

    @client.feature(t.WINDOW_SHOW_DOCUMENT)
    def show(params: t.ShowDocumentParams) -> t.ShowDocumentResult:
        shown.append(params.uri)
        return t.ShowDocumentResult(True)

    await client.start_io(sys.executable, "-m", "precedes", "lsp", "--stdio")
    window = t.WindowClientCapabilities(show_document=t.ShowDocumentClientCapabilities(True))
    await client.initialize_async(t.InitializeParams(capabilities=t.ClientCapabilities(window=window)))
    client.initialized(t.InitializedParams())
    client.text_document_did_open(t.DidOpenTextDocumentParams(t.TextDocumentItem(URI, "precedes", 1, TEXT)))
    await asked(client, t, await asyncio.wait_for(told.get(), WAIT))
    await figures(client, t, shown)
    await written(client, t, told)
    await client.shutdown_async(None)
    client.exit(None)
    await client.stop()


async def asked(client: Any, t: Any, diagnostics: Any) -> None:
    """Places are in units of the protocol: the smiling face takes two."""
    document = t.TextDocumentIdentifier(URI)
    [verdict] = diagnostics
    assert (verdict.severity, str(verdict.range)) == (t.DiagnosticSeverity.Warning, "5:0-5:9")
    assert verdict.message.startswith("expect ST: ST is violated\norder_preserving: E1 sends a before b")
    hover = await client.text_document_hover_async(t.HoverParams(document, t.Position(3, 21)))
    assert (hover.contents.value, str(hover.range)) == (
        "message b: sent by E1 to E1, E2; delivered by E2",
        "3:21-3:22",
    )
    items = await client.text_document_completion_async(t.CompletionParams(document, t.Position(5, 9)))
    assert "ST" in {item.label for item in items.items}
    assert {str(item.text_edit.range) for item in items.items} == {"5:7-5:9"}
    there = await client.text_document_definition_async(t.DefinitionParams(document, t.Position(5, 8)))
    assert there.uri.endswith("/precedes_specs/services.prec")
    line = (
        Path(there.uri.removeprefix("file://"))
        .read_text(encoding="utf-8")
        .splitlines()[there.range.start.line]
    )
    assert line.startswith("service ST ")
    here = await client.text_document_definition_async(t.DefinitionParams(document, t.Position(4, 7)))
    assert (here.uri, str(here.range)) == (URI, "3:21-3:22")
    everywhere = t.ReferenceParams(t.ReferenceContext(False), document, t.Position(3, 21))
    found = await client.text_document_references_async(everywhere)
    assert [str(each.range) for each in found] == ["4:7-4:8"]
    prepared = await client.text_document_prepare_rename_async(
        t.PrepareRenameParams(document, t.Position(3, 21))
    )
    assert str(prepared) == "3:21-3:22"
    edit = await client.text_document_rename_async(t.RenameParams(document, t.Position(3, 21), "c d"))
    assert [(str(each.range), each.new_text) for each in edit.changes[URI]] == [
        ("3:21-3:22", '"c d"'),
        ("4:7-4:8", '"c d"'),
    ]
    with pytest.raises(Exception, match="a has another meaning here"):
        await client.text_document_rename_async(t.RenameParams(document, t.Position(3, 21), "a"))
    [outline] = await client.text_document_document_symbol_async(t.DocumentSymbolParams(document))
    assert (outline.name, str(outline.range), len(outline.children)) == ("s", "1:0-6:23", 2)
    colors = await client.text_document_semantic_tokens_full_async(t.SemanticTokensParams(document))
    assert len(colors.data) % 5 == 0
    assert list(colors.data[:5]) == [1, 9, 1, 0, 1]


async def figures(client: Any, t: Any, shown: list[str]) -> None:
    [lens] = await client.text_document_code_lens_async(t.CodeLensParams(t.TextDocumentIdentifier(URI)))
    assert lens.command.title == "1 of 2 as stated, show figure"
    command = t.ExecuteCommandParams(lens.command.command, arguments=lens.command.arguments)
    address = await client.workspace_execute_command_async(command)
    assert shown == [address]
    written_to = Path(address.removeprefix("file://"))
    assert written_to.read_text(encoding="utf-8").startswith("<svg ")
    written_to.unlink()
    written_to.parent.rmdir()
    figure = t.ExecuteCommandParams("precedes.figure", arguments=[URI, "s"])
    assert (await client.workspace_execute_command_async(figure)).startswith("<svg ")


async def written(client: Any, t: Any, told: asyncio.Queue[Any]) -> None:
    """The layout, then changes: only the last of those that come fast is judged."""
    document = t.TextDocumentIdentifier(URI)
    options = t.FormattingOptions(2, True)
    [edit] = await client.text_document_formatting_async(t.DocumentFormattingParams(document, options))
    assert str(edit.range) == "0:0-7:0"
    assert 'SL1: < a{2} "😀"{2} b ]\n' in edit.new_text
    for version, text in ((2, "claim and\n"), (3, "claim STT\n")):
        change = t.TextDocumentContentChangeWholeDocument(text)
        now = t.VersionedTextDocumentIdentifier(version, URI)
        client.text_document_did_change(t.DidChangeTextDocumentParams(now, [change]))
    [mistake] = await asyncio.wait_for(told.get(), WAIT)
    assert (mistake.code, str(mistake.range)) == ("N001", "0:6-0:9")
    assert mistake.severity == t.DiagnosticSeverity.Error
    formatting = t.DocumentFormattingParams(document, options)
    assert list(await client.text_document_formatting_async(formatting)) == []
    client.text_document_did_close(t.DidCloseTextDocumentParams(document))
    assert list(await asyncio.wait_for(told.get(), WAIT)) == []
