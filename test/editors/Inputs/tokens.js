// SPDX-License-Identifier: Apache-2.0
//
// usage: node tokens.js EXTENSION FILE.fore...
//
// Tokens of files with the scope of an error, and the scope of a text in a `fore` block of
// Markdown.
"use strict";

const fs = require("fs");
const path = require("path");
const oniguruma = require("vscode-oniguruma");
const textmate = require("vscode-textmate");

const [extension, ...files] = process.argv.slice(2);

/** The files of grammars, by scope. */
const grammars = {
  "source.fore": path.join(extension, "syntaxes/fore.tmLanguage.json"),
  "markdown.fore.codeblock": path.join(extension, "syntaxes/markdown.tmLanguage.json"),
};

function* tokens(grammar, text) {
  let stack = textmate.INITIAL;
  let row = 0;
  for (const line of text.split("\n")) {
    const result = grammar.tokenizeLine(line, stack);
    row += 1;
    for (const { startIndex, endIndex, scopes } of result.tokens)
      yield { row, text: line.slice(startIndex, endIndex), scopes };
    stack = result.ruleStack;
  }
}

async function main() {
  const wasm = require.resolve("vscode-oniguruma/release/onig.wasm");
  await oniguruma.loadWASM(fs.readFileSync(wasm));
  const registry = new textmate.Registry({
    onigLib: Promise.resolve({
      createOnigScanner: (sources) => new oniguruma.OnigScanner(sources),
      createOnigString: (text) => new oniguruma.OnigString(text),
    }),
    loadGrammar: async (scope) =>
      textmate.parseRawGrammar(fs.readFileSync(grammars[scope], "utf8"), "grammar.json"),
  });
  const markdown = await registry.loadGrammar("markdown.fore.codeblock");
  for (const { text, scopes } of tokens(markdown, '# A job\n```fore file=a.fore\nimport "a"\n```\n"b"'))
    if (/^[ab]$/.test(text)) console.log("markdown:", scopes.at(-1));
  const fore = await registry.loadGrammar("source.fore");
  let errors = 0;
  for (const file of files)
    for (const { row, text, scopes } of tokens(fore, fs.readFileSync(file, "utf8")))
      if (scopes.some((scope) => scope.startsWith("invalid"))) {
        console.log(`${file}:${row}: ${text}`);
        errors += 1;
      }
  console.log(`${files.length} files, ${errors} errors`);
}

main();
