// Every line of the table refuses what it should, nothing more, and names a key that exists.

import assert from "node:assert/strict";
import { test } from "node:test";
import { isRefusedAlways, notYet } from "./available.ts";
import { sentenceOfFault } from "./faults.ts";
import { loadConfig } from "./load.ts";
import { configSchema } from "./schema.ts";
import { schemaAt } from "./shape.ts";

async function load(yaml: string, env: Readonly<Record<string, string>> = {}) {
  const readFile = async (path: string) =>
    path === "/h/config.yaml" ? ({ type: "read", bytes: Buffer.from(yaml) } as const) : ({ type: "missing" } as const);
  return loadConfig({ home: "/h", env, userHome: null, cwd: "/", readFile });
}

async function faultsOf(yaml: string, env: Readonly<Record<string, string>> = {}): Promise<readonly string[]> {
  const loaded = await load(yaml, env);
  return loaded.type === "wrong" ? loaded.faults.map(sentenceOfFault) : [];
}

test("each thing that this version cannot do is refused, and its key is one of the schema", async () => {
  const values: Readonly<Record<string, string>> = {
    "control.host": "'::'",
    "control.auth": "password",
    "sessions.reset": "{ idleMinutes: 5 }",
    "store.url": "postgres://host/db",
  };
  for (const { key } of notYet) {
    const path = key.split(".");
    assert.ok(schemaAt(configSchema, path) !== null, key);
    const yaml = `${path[0]}:\n  ${path[1]}: ${values[key] ?? "text"}\n`;
    const faults = await faultsOf(yaml);
    assert.equal(faults.length, 1, `${key}: ${faults.join(" | ")}`);
    assert.match(faults[0] ?? "", new RegExp(`line 2: ${key} .*not available in this version; `));
  }
  assert.equal(isRefusedAlways(["platforms", "web"]), false);
});

test("any loopback host is fine, any other is refused", async () => {
  for (const host of ["127.0.0.1", "127.1.2.3", "localhost", "::1"])
    assert.deepEqual(await faultsOf("", { EVERTURN_CONTROL__HOST: host }), [], host);
  for (const host of ["0.0.0.0", "::", "10.0.0.1", "example.org", "127.0.0.1.example.org"])
    assert.match((await faultsOf("", { EVERTURN_CONTROL__HOST: host })).join(), /not available/, host);
});

test("a platform of this version is suggested where it is meant", async () => {
  assert.match(
    (await faultsOf("platforms: { telegran: {} }\n")).join("\n"),
    /telegran is not known; did you mean telegram\?/,
  );
});
