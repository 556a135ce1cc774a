// Starts `precedes lsp` for .prec files. All that is known of the language is in the server.
"use strict";

const { workspace, window } = require("vscode");
const { LanguageClient, TransportKind } = require("vscode-languageclient/node");

let client;

async function activate() {
  const command = workspace.getConfiguration("precedes").get("command");
  const server = { command, args: ["lsp"], transport: TransportKind.stdio };
  client = new LanguageClient("precedes", "precedes", server, {
    documentSelector: [{ language: "precedes" }],
  });
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

function deactivate() {
  return client && client.stop();
}

module.exports = { activate, deactivate };
