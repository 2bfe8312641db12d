// The conformance suite of the protocol, run against the product's own client (conformance-client.ts). Scenarios that are
// not expected to pass yet stand in one table with the reason, so that a new scenario of the suite cannot go unnoticed.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { peerIn } from "../../scripts/peers.ts";

const suite = peerIn(process.env["EVERTURN_PEERS"], "conformance");
const skip = suite === null ? "no conformance suite: set EVERTURN_PEERS" : false;
const limit = { timeout: 180_000, skip };
const client = join(import.meta.dirname, "conformance-client.ts");

const expected: Readonly<Record<string, readonly string[]>> = {
  "2025-11-25": ["initialize", "tools_call", "sse-retry"],
  "2026-07-28": [
    "tools_call",
    "request-metadata",
    "http-standard-headers",
    "http-custom-headers",
    "http-invalid-tool-headers",
    "json-schema-ref-no-deref",
  ],
};

/** By the beginning of the name. */
const notYet: readonly (readonly [scenario: string, reason: string])[] = [
  ["auth/", "OAuth is not supported yet; a 401 is told as a login that is needed"],
  ["elicitation-sep1034-client-defaults", "elicitation is not supported yet"],
  ["sep-2322-client-request-state", "results that ask for input are not continued yet"],
  ["json-schema-2020-12-preservation", "schemas are shortened for the model, without $schema and titles"],
  ["sep-2640-client-", "skills of MCP servers are an extension that is not supported"],
];

type Ended = { readonly code: number | null; readonly out: string };

function runSuite(...words: readonly string[]): Promise<Ended> {
  return new Promise((done, failed) => {
    const child = spawn(process.execPath, [suite ?? "", ...words], { stdio: ["ignore", "pipe", "pipe"] });
    let out = "";
    for (const stream of [child.stdout, child.stderr])
      stream.on("data", (chunk: Buffer) => (out = `${out}${chunk.toString()}`.slice(-20_000)));
    child.on("error", failed);
    child.on("close", (code) => done({ code, out }));
  });
}

for (const [revision, scenarios] of Object.entries(expected))
  for (const scenario of scenarios)
    test(`${scenario} of ${revision}`, limit, async (t) => {
      const folder = mkdtempSync(join(tmpdir(), "everturn-conformance-"));
      t.after(() => rmSync(folder, { recursive: true, force: true }));
      const command = `${process.execPath} ${client}`;
      const given = ["--scenario", scenario, "--spec-version", revision, "--timeout", "120000", "-o", folder];
      const { code, out } = await runSuite("client", "--command", command, ...given);
      assert.match(out, /Passed: (\d+)\/\1, 0 failed/, out);
      assert.equal(code, 0, out);
      t.diagnostic(/Passed: .*/.exec(out)?.[0] ?? "");
    });

test("every scenario for clients is expected to pass, or in the table of those that are not yet", limit, async () => {
  const { out } = await runSuite("list");
  const part = /Client scenarios[^\n]*\n([^]*?)\n\n/.exec(`${out}\n\n`)?.[1] ?? "";
  const all = [...part.matchAll(/^ +- (\S+)/gm)].map(([, name = ""]) => name);
  assert.ok(all.length > 30, out);
  const passing = new Set(Object.values(expected).flat());
  const unknown = all.filter((name) => !passing.has(name) && !notYet.some(([start]) => name.startsWith(start)));
  assert.deepEqual(unknown, []);
  for (const [start] of notYet)
    assert.ok(
      all.some((name) => name.startsWith(start)),
      `${start} is gone`,
    );
});
