// SPDX-License-Identifier: Apache-2.0
//
// usage: node latency.js FOLDER KEYSTROKES
//
// Times from a keystroke to the diagnostics after it, of a job with DeepSeek-V3 on a cluster of
// the library. Every second keystroke makes a size illegal, and the next one mends it.
"use strict";

const { Connection, pathToFileURL } = require("./connection.js");

const JOB = `import "models/deepseek-v3.fore"
import "clusters/h100.toml" as pod
train { sequence = 4Ki   micro_batch = 1   global_batch = 15360 }
parallel {
  world = 2048   ep = 64   etp = 1   zero = 1
  pp = 16   layout = [4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 1]
}
cluster : pod { nodes = 256 }
`;

async function main() {
  const [folder, keystrokes] = process.argv.slice(2);
  const uri = pathToFileURL(`${folder}/job.fore`).href;
  const client = await Connection.start();
  client.open(uri, JOB);
  const before = await client.diagnostics(uri);
  const times = [];
  const found = new Set();
  for (let i = 0; i < Number(keystrokes); ++i) {
    // pp = 16, 15, 16, ...
    times.push(await client.latency(uri, 5, 8, 5, 9, i % 2 ? "6" : "5"));
    found.add(client.published.get(uri).map(({ code }) => code).join());
  }
  times.sort((a, b) => a - b);
  const at = (share) => times[Math.min(times.length - 1, Math.floor(share * times.length))];
  console.log("opened:", before, "then:", [...found].sort());
  console.log(`median at most 50 ms: ${at(0.5) <= 50}`);
  console.log(
    `${times.length} keystrokes: median ${at(0.5).toFixed(1)} ms, ` +
      `95 % ${at(0.95).toFixed(1)} ms, at most ${times.at(-1).toFixed(1)} ms`,
  );
  await client.end();
}

main();
