// SPDX-License-Identifier: Apache-2.0
//
// usage: node vscode.js FOLDER
//
// A session of the client that VS Code has, in a folder: what it shows.
"use strict";

const { Connection, pathToFileURL } = require("./connection.js");

const JOB = `import "models/llama3-8b.fore"
train { sequence = 1Ki   micro_batch = 1   global_batch = 64 }
parallel { world = 32   tp = 4   sequence_parallel = true }
`;

async function main() {
  const uri = pathToFileURL(`${process.argv[2]}/job.fore`).href;
  const client = await Connection.start();
  const at = (line, character) => ({ textDocument: { uri }, position: { line, character } });

  const codes = async () => (await client.diagnostics(uri)).map(({ code }) => code);
  client.open(uri, JOB);
  console.log("opened:", await codes());
  client.edit(uri, 2, 29, 2, 30, "5");
  console.log("edited:", await codes());
  client.edit(uri, 2, 29, 2, 30, "4");
  console.log("mended:", await codes());

  const hover = await client.ask("textDocument/hover", at(2, 26));
  console.log("hover:", hover.contents.value.split("\n")[0]);
  const items = await client.ask("textDocument/completion", at(2, 11));
  console.log("completes:", (items.items ?? items).some(({ label }) => label === "vpp"));

  client.edit(uri, 1, 25, 1, 36, "micro_bach");
  console.log("misspelt:", await codes());
  const range = { start: { line: 1, character: 0 }, end: { line: 1, character: 60 } };
  const [action] = await client.ask("textDocument/codeAction", {
    textDocument: { uri }, range, context: { diagnostics: [] },
  });
  console.log("action:", action.title);
  const apply = ({ changes }) => {
    // From the end, so that the edits do not move one another.
    for (const { range: { start, end }, newText } of [...changes[uri]].reverse())
      client.edit(uri, start.line, start.character, end.line, end.character, newText);
  };
  apply(action.edit);
  console.log("applied:", await codes());

  client.edit(uri, 1, 0, 1, 0, "let width = 4\n");
  client.edit(uri, 3, 29, 3, 30, "width");
  const uses = await client.ask("textDocument/references", {
    ...at(1, 4),
    context: { includeDeclaration: true },
  });
  const places = uses.map(({ range: { start } }) => `${start.line + 1}:${start.character}`);
  console.log("references:", places.join(" "));
  const edit = await client.ask("textDocument/rename", { ...at(1, 4), newName: "shards" });
  console.log("renamed:", edit.changes[uri].length);
  apply(edit);
  console.log("after that:", await codes());
  console.log("exit code:", await client.end());
}

main();
