// SPDX-License-Identifier: Apache-2.0
//
// The client of VS Code, without the editor: vscode-jsonrpc and the types of
// vscode-languageserver-protocol.
"use strict";

const { spawn } = require("child_process");
const { once } = require("events");
const { pathToFileURL } = require("url");
const lsp = require("vscode-languageserver-protocol/node");

class Connection {
  /** Starts the server. */
  static async start() {
    const client = new Connection();
    client.process = spawn("foretrace", ["lsp"], { stdio: ["pipe", "pipe", "inherit"] });
    client.connection = lsp.createProtocolConnection(
      new lsp.StreamMessageReader(client.process.stdout),
      new lsp.StreamMessageWriter(client.process.stdin),
    );
    client.versions = new Map();
    client.published = new Map();
    client.connection.onNotification(lsp.PublishDiagnosticsNotification.type, (found) => {
      client.published.set(found.uri, found.diagnostics);
      client.onPublished?.(found.uri);
    });
    client.connection.listen();
    await client.connection.sendRequest(lsp.InitializeRequest.type, {
      processId: process.pid,
      rootUri: null,
      capabilities: {},
    });
    client.connection.sendNotification(lsp.InitializedNotification.type, {});
    return client;
  }

  ask(method, params) {
    return this.connection.sendRequest(method, params);
  }

  open(uri, text) {
    this.versions.set(uri, 1);
    return this.connection.sendNotification(lsp.DidOpenTextDocumentNotification.type, {
      textDocument: { uri, languageId: "fore", version: 1, text },
    });
  }

  /** Replaces a range. */
  edit(uri, line, character, endLine, endCharacter, text) {
    const version = this.versions.get(uri) + 1;
    this.versions.set(uri, version);
    const range = { start: { line, character }, end: { line: endLine, character: endCharacter } };
    return this.connection.sendNotification(lsp.DidChangeTextDocumentNotification.type, {
      textDocument: { uri, version },
      contentChanges: [{ range, text }],
    });
  }

  /** The diagnostics of a text, after all that was sent. */
  async diagnostics(uri) {
    await this.ask("textDocument/documentSymbol", { textDocument: { uri } });
    return this.published.get(uri) ?? [];
  }

  /** The time from an edit to the diagnostics after it, in milliseconds. */
  async latency(uri, ...edit) {
    const published = new Promise((resolve) => {
      this.onPublished = (of) => of === uri && resolve();
    });
    const start = performance.now();
    await this.edit(uri, ...edit);
    await published;
    return performance.now() - start;
  }

  /** Shuts the server down; returns its exit code. */
  async end() {
    const exit = once(this.process, "exit");
    await this.connection.sendRequest(lsp.ShutdownRequest.type);
    await this.connection.sendNotification(lsp.ExitNotification.type);
    const [code] = await exit;
    this.connection.dispose();
    return code;
  }
}

module.exports = { Connection, pathToFileURL };
