"""The language server: what editors ask, answered by the other modules of this room.

Here are the types of the protocol and nothing else: texts and places go in, values come out and are written as
the protocol has them. An answer that is not there (no name, a text with mistakes) is no answer, and not an error.
"""

from __future__ import annotations

import asyncio
import re
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, TypeVar

from lsprotocol import types
from pygls import uris
from pygls.exceptions import JsonRpcException
from pygls.lsp.server import LanguageServer
from pygls.workspace import PositionCodec

from precedes.core.diagnostics import PrecedesError, Span
from precedes.core.version import VERSION
from precedes.editor import completion, hover, judgments, references, symbols
from precedes.editor.analysis import Analysis, analyze
from precedes.editor.completion import Role
from precedes.editor.judgments import Judged, Remark, Weight
from precedes.editor.occurrences import Kind
from precedes.editor.symbols import Entry, Heading
from precedes.language.formatting.formatter import formatted

T = TypeVar("T")
FIGURE: Final = "precedes.figure"
"""Gives a scenario as SVG: its arguments are the address of the file and the name of the scenario."""
SHOW_FIGURE: Final = "precedes.showFigure"
"""The same, shown by whatever the editor shows pictures with."""
SOURCE: Final = "precedes"
_DELAY: Final = 0.2
"""Seconds without a change after which a text is judged."""
_FAILED: Final = -32803
"""The protocol's number for a request that was understood and cannot be carried out."""

_SEVERITIES: Final = {
    Weight.ERROR: types.DiagnosticSeverity.Error,
    Weight.WARNING: types.DiagnosticSeverity.Warning,
    Weight.INFORMATION: types.DiagnosticSeverity.Information,
}
_ITEMS: Final = {
    Role.KEYWORD: types.CompletionItemKind.Keyword,
    Role.DEFINITION: types.CompletionItemKind.Function,
    Role.FUNCTION: types.CompletionItemKind.Operator,
    Role.ATTRIBUTE: types.CompletionItemKind.Property,
    Role.LOG: types.CompletionItemKind.Struct,
    Role.SORT: types.CompletionItemKind.TypeParameter,
    Role.ENTITY: types.CompletionItemKind.Class,
    Role.MESSAGE: types.CompletionItemKind.Value,
    Role.GROUP: types.CompletionItemKind.Module,
    Role.VIEW: types.CompletionItemKind.Event,
    Role.VARIABLE: types.CompletionItemKind.Variable,
}
_HEADINGS: Final = {
    Heading.SCENARIO: types.SymbolKind.Namespace,
    Heading.PREDICATE: types.SymbolKind.Function,
    Heading.SERVICE: types.SymbolKind.Interface,
    Heading.ATTRIBUTE: types.SymbolKind.Property,
    Heading.QUESTION: types.SymbolKind.Event,
    Heading.EXPECTATION: types.SymbolKind.Boolean,
}
_COLORS: Final = {
    Kind.SCENARIO: "namespace",
    Kind.DEFINITION: "function",
    Kind.ATTRIBUTE: "property",
    Kind.ENTITY: "class",
    Kind.MESSAGE: "enumMember",
    Kind.GROUP: "struct",
    Kind.VIEW: "event",
    Kind.VARIABLE: "variable",
    Kind.BUILT_IN: "macro",
}
_LEGEND: Final = types.SemanticTokensLegend(token_types=[*_COLORS.values()], token_modifiers=["declaration"])


@dataclass(slots=True)
class _Document:
    """A text of the editor with what is known of it."""

    version: int | None
    analysis: Analysis
    codec: PositionCodec
    judged: tuple[Judged, ...] | None = field(default=None)
    """None until it was asked for."""

    def place(self, position: types.Position) -> tuple[int, int]:
        """A line and a column, from 1, in characters."""
        found = self.codec.position_from_client_units(self.analysis.lines, position)
        return found.line + 1, found.character + 1

    def range(self, span: Span) -> types.Range:
        """A span as the editor counts."""
        line = span.line - 1
        ends = (types.Position(line, span.column - 1), types.Position(line, span.end_column - 1))
        return self.codec.range_to_client_units(self.analysis.lines, types.Range(*ends))

    def lines(self, first: int, last: int) -> types.Range:
        """Whole lines, from 1."""
        end = len(self.analysis.lines[last - 1]) + 1
        return types.Range(types.Position(first - 1, 0), self.range(Span(last, 1, end)).end)


class PrecServer(LanguageServer):
    """A server with the texts that are open."""

    def __init__(self) -> None:
        # Whole texts: files are short, and the lines of the library for the protocol are not those of the language.
        super().__init__(SOURCE, VERSION, text_document_sync_kind=types.TextDocumentSyncKind.Full)
        self.documents: dict[str, _Document] = {}
        self.pictures: Path | None = None

    def document(self, uri: str) -> _Document:
        """A text as it is now."""
        text = self.workspace.get_text_document(uri)
        known = self.documents.get(uri)
        if known is None or known.version != text.version or known.analysis.text != text.source:
            known = _Document(text.version, analyze(text.source), text.position_codec)
            self.documents[uri] = known
        return known

    async def publish(self, uri: str) -> None:
        """Tell the mistakes of a text, or its verdicts."""
        known = self.document(uri)
        remarks = judgments.remarks(known.analysis, await self.verdicts(known))
        found = [_diagnostic(remark, known) for remark in remarks]
        if self.documents.get(uri) is known:
            self.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri, found, known.version))

    async def verdicts(self, known: _Document) -> tuple[Judged, ...]:
        """What the scenarios of a text come to. They are judged in a thread, so that other questions do not wait."""
        if known.judged is None:
            judging = asyncio.get_running_loop().run_in_executor(
                self.thread_pool, judgments.judged, known.analysis
            )
            known.judged = await judging
        return known.judged

    def picture(self, uri: str, scenario: str) -> Path:
        """A file with a scenario as SVG. The folder stays when the server ends: somebody may still look at it."""
        if self.pictures is None:
            self.pictures = Path(tempfile.mkdtemp(prefix="precedes-figures-"))
        stem = re.sub(r"[^\w.-]+", "-", f"{Path(uris.to_fs_path(uri) or 'figure').stem}-{scenario}")
        path = self.pictures / f"{stem}.svg"
        path.write_text(judgments.figure(self.document(uri).analysis, scenario), encoding="utf-8")
        return path


def _diagnostic(remark: Remark, known: _Document) -> types.Diagnostic:
    return types.Diagnostic(
        known.range(remark.span),
        remark.text,
        severity=_SEVERITIES[remark.weight],
        code=remark.code,
        source=SOURCE,
    )


def _or_refused(work: Callable[[], T]) -> T:
    """What comes of a request; if it cannot be carried out, an editor shows why."""
    try:
        return work()
    except PrecedesError as error:
        told = (
            one.message if one.hint is None else f"{one.message}: {one.hint}" for one in error.diagnostics
        )
        raise JsonRpcException("; ".join(told), _FAILED) from error


def server() -> PrecServer:
    """A server that answers all that this room knows."""
    made = PrecServer()
    for add in (_texts, _names, _words, _outlines, _figures):
        add(made)
    return made


def _texts(made: PrecServer) -> None:
    @made.feature(types.TEXT_DOCUMENT_DID_OPEN)
    async def opened(ls: PrecServer, params: types.DidOpenTextDocumentParams) -> None:
        await ls.publish(params.text_document.uri)

    @made.feature(types.TEXT_DOCUMENT_DID_CHANGE)
    async def changed(ls: PrecServer, params: types.DidChangeTextDocumentParams) -> None:
        uri = params.text_document.uri
        await asyncio.sleep(_DELAY)
        # If somebody types on, the last change is the one that counts.
        if (
            uri in ls.workspace.text_documents
            and ls.workspace.get_text_document(uri).version == params.text_document.version
        ):
            await ls.publish(uri)

    @made.feature(types.TEXT_DOCUMENT_DID_CLOSE)
    def closed(ls: PrecServer, params: types.DidCloseTextDocumentParams) -> None:
        ls.documents.pop(params.text_document.uri, None)
        ls.text_document_publish_diagnostics(types.PublishDiagnosticsParams(params.text_document.uri, []))

    @made.feature(types.TEXT_DOCUMENT_FORMATTING)
    def layout(ls: PrecServer, params: types.DocumentFormattingParams) -> list[types.TextEdit] | None:
        known = ls.document(params.text_document.uri)
        try:
            text = formatted(known.analysis.text)
        except PrecedesError:
            # Its mistakes are told where they are.
            return None
        if text == known.analysis.text:
            return []
        return [types.TextEdit(known.lines(1, len(known.analysis.lines)), text)]


def _names(made: PrecServer) -> None:
    @made.feature(types.TEXT_DOCUMENT_DEFINITION)
    def definition(ls: PrecServer, params: types.DefinitionParams) -> types.Location | None:
        uri = params.text_document.uri
        known = ls.document(uri)
        place = references.definition(known.analysis, *known.place(params.position))
        if place is None:
            return None
        if place.path is None:
            return types.Location(uri, known.range(place.span))
        # The files of the library have no characters of two units in front of a name.
        line = place.span.line - 1
        ends = (types.Position(line, place.span.column - 1), types.Position(line, place.span.end_column - 1))
        return types.Location(uris.from_fs_path(str(place.path)) or "", types.Range(*ends))

    @made.feature(types.TEXT_DOCUMENT_REFERENCES)
    def everywhere(ls: PrecServer, params: types.ReferenceParams) -> list[types.Location]:
        uri = params.text_document.uri
        known = ls.document(uri)
        one = known.analysis.occurrence_at(*known.place(params.position))
        found = () if one is None else references.named(known.analysis, one.symbol)
        wanted = [each for each in found if params.context.include_declaration or not each.defines]
        return [types.Location(uri, known.range(each.span)) for each in wanted]

    @made.feature(types.TEXT_DOCUMENT_PREPARE_RENAME)
    def prepare(ls: PrecServer, params: types.PrepareRenameParams) -> types.Range:
        known = ls.document(params.text_document.uri)
        place = known.place(params.position)
        return known.range(_or_refused(lambda: references.renamable(known.analysis, *place)).span)

    @made.feature(types.TEXT_DOCUMENT_RENAME, types.RenameOptions(prepare_provider=True))
    def rename(ls: PrecServer, params: types.RenameParams) -> types.WorkspaceEdit:
        uri = params.text_document.uri
        known = ls.document(uri)
        place = known.place(params.position)
        edits = _or_refused(lambda: references.renamed(known.analysis, *place, params.new_name))
        return types.WorkspaceEdit(
            {uri: [types.TextEdit(known.range(edit.span), edit.text) for edit in edits]}
        )


def _words(made: PrecServer) -> None:
    @made.feature(types.TEXT_DOCUMENT_HOVER)
    def note(ls: PrecServer, params: types.HoverParams) -> types.Hover | None:
        known = ls.document(params.text_document.uri)
        found = hover.note(known.analysis, *known.place(params.position))
        return None if found is None else types.Hover(_markdown(found.markdown), known.range(found.span))

    # No space: then a suggestion would be taken by whoever ends a line.
    @made.feature(types.TEXT_DOCUMENT_COMPLETION, types.CompletionOptions(trigger_characters=["{", "[", "("]))
    def suggest(ls: PrecServer, params: types.CompletionParams) -> types.CompletionList:
        known = ls.document(params.text_document.uri)
        found = completion.suggestions(known.analysis, *known.place(params.position))
        at = known.range(found.span)
        items = [
            types.CompletionItem(
                one.text,
                kind=_ITEMS[one.role],
                detail=one.detail or None,
                documentation=_markdown(one.markdown) if one.markdown else None,
                # In the order of the suggestions: what is near comes first.
                sort_text=f"{place:04}",
                filter_text=one.text,
                text_edit=types.TextEdit(at, one.text),
            )
            for place, one in enumerate(found.found)
        ]
        return types.CompletionList(is_incomplete=False, items=items)


def _markdown(text: str) -> types.MarkupContent:
    return types.MarkupContent(types.MarkupKind.Markdown, text)


def _outlines(made: PrecServer) -> None:
    @made.feature(types.TEXT_DOCUMENT_DOCUMENT_SYMBOL)
    def outline(ls: PrecServer, params: types.DocumentSymbolParams) -> list[types.DocumentSymbol]:
        known = ls.document(params.text_document.uri)
        return [_symbol(entry, known) for entry in symbols.outline(known.analysis)]

    @made.feature(types.TEXT_DOCUMENT_SEMANTIC_TOKENS_FULL, _LEGEND)
    def colors(ls: PrecServer, params: types.SemanticTokensParams) -> types.SemanticTokens:
        known = ls.document(params.text_document.uri)
        kinds = {kind: number for number, kind in enumerate(_COLORS)}
        data: list[int] = []
        line = start = 0
        for span, kind, defines in symbols.colored(known.analysis):
            found = known.range(span)
            begin = found.start
            data += [begin.line - line, begin.character - (start if begin.line == line else 0)]
            data += [found.end.character - begin.character, kinds[kind], int(defines)]
            line, start = begin.line, begin.character
        return types.SemanticTokens(data)


def _symbol(entry: Entry, known: _Document) -> types.DocumentSymbol:
    return types.DocumentSymbol(
        entry.name,
        _HEADINGS[entry.heading],
        known.lines(entry.first, entry.last),
        known.range(entry.span),
        detail=entry.detail or None,
        children=[_symbol(each, known) for each in entry.below],
    )


def _figures(made: PrecServer) -> None:
    @made.feature(types.TEXT_DOCUMENT_CODE_LENS)
    async def lenses(ls: PrecServer, params: types.CodeLensParams) -> list[types.CodeLens]:
        uri = params.text_document.uri
        known = ls.document(uri)
        return [
            types.CodeLens(
                known.range(one.scenario.span),
                types.Command(f"{one.summary}, show figure", SHOW_FIGURE, arguments=[uri, one.scenario.name]),
            )
            for one in await ls.verdicts(known)
        ]

    @made.command(FIGURE)
    def figure(ls: PrecServer, uri: str, scenario: str) -> str:
        return _or_refused(lambda: judgments.figure(ls.document(uri).analysis, scenario))

    @made.command(SHOW_FIGURE)
    async def show(ls: PrecServer, uri: str, scenario: str) -> str:
        path = _or_refused(lambda: ls.picture(uri, scenario))
        address = uris.from_fs_path(str(path)) or ""
        window = ls.client_capabilities.window
        if window is not None and window.show_document is not None and window.show_document.support:
            await ls.window_show_document_async(types.ShowDocumentParams(address, external=True))
        else:
            ls.window_show_message(
                types.ShowMessageParams(types.MessageType.Info, f"the figure is in {path}")
            )
        return address


def serve() -> None:
    """Answer on standard output what is asked on standard input, until the editor ends it."""
    server().start_io()
