// SPDX-License-Identifier: Apache-2.0
//
// Runs `foretrace lsp` for the .fore files that are open.
"use strict";

const vscode = require("vscode");
const { LanguageClient } = require("vscode-languageclient/node");

/** The client that runs, if any. */
let client;

async function start() {
  const command = vscode.workspace.getConfiguration("foretrace").get("path");
  client = new LanguageClient(
    "foretrace",
    "Foretrace",
    { command, args: ["lsp"] },
    { documentSelector: [{ scheme: "file", language: "fore" }] },
  );
  try {
    await client.start();
  } catch (error) {
    client = undefined;
    vscode.window.showErrorMessage(
      `\`${command} lsp\` did not start: ${error.message}. ` +
        "Install foretrace, or set `foretrace.path`.",
    );
  }
}

async function stop() {
  await client?.stop();
  client = undefined;
}

exports.activate = async (context) => {
  context.subscriptions.push(
    vscode.commands.registerCommand("foretrace.restart", async () => {
      await stop();
      await start();
    }),
  );
  await start();
};

exports.deactivate = stop;
