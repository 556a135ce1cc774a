// Starts `precedes lsp` for .prec files, and shows the figures that it draws. All that is known of the language is in
// the server.
"use strict";

const { languages, workspace, window, ViewColumn } = require("vscode");
const { LanguageClient, TransportKind } = require("vscode-languageclient/node");

let client;
const panels = new Map();

async function activate(context) {
  const command = workspace.getConfiguration("precedes").get("command");
  const server = { command, args: ["lsp"], transport: TransportKind.stdio };
  client = new LanguageClient("precedes", "precedes", server, {
    documentSelector: [{ language: "precedes" }],
    middleware: {
      // The server would open a file in the program that shows pictures. Where the editor is on another machine than
      // its window, there is none.
      executeCommand: (name, asked, next) =>
        name === "precedes.showFigure" ? show(...asked) : next(name, asked),
    },
  });
  context.subscriptions.push(languages.onDidChangeDiagnostics(({ uris }) => follow(uris.map(String))));
  try {
    await client.start();
  } catch (error) {
    client = undefined;
    window.showErrorMessage(
      `${command} lsp did not start: ${error.message}. ` +
        "Install it with pip install 'precedes[editor]', or set precedes.command to its path.",
    );
  }
}

function figure(uri, scenario) {
  const asked = { command: "precedes.figure", arguments: [uri, scenario] };
  return client.sendRequest("workspace/executeCommand", asked);
}

async function show(uri, scenario) {
  const svg = await figure(uri, scenario);
  const key = JSON.stringify([uri, scenario]);
  let panel = panels.get(key);
  if (panel === undefined) {
    const place = { viewColumn: ViewColumn.Beside, preserveFocus: true };
    panel = window.createWebviewPanel("precedes.figure", scenario, place, {});
    panel.onDidDispose(() => panels.delete(key));
    panels.set(key, panel);
  }
  panel.webview.html = page(svg);
  panel.reveal(undefined, true);
}

// What is told of a file comes after each change of it.
async function follow(uris) {
  for (const [key, panel] of panels) {
    const [uri, scenario] = JSON.parse(key);
    if (uris.includes(uri)) {
      // While a file has a mistake, the figure is that of before.
      const svg = await figure(uri, scenario).catch(() => undefined);
      if (svg !== undefined && panels.has(key)) panel.webview.html = page(svg);
    }
  }
}

function page(svg) {
  const policy = "default-src 'none'; style-src 'unsafe-inline'";
  return (
    `<!DOCTYPE html><html><head><meta http-equiv="Content-Security-Policy" content="${policy}">` +
    `<style>svg { max-width: 100%; height: auto; }</style></head><body>${svg}</body></html>`
  );
}

function deactivate() {
  return client && client.stop();
}

module.exports = { activate, deactivate };
