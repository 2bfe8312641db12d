// Programs that the configuration wants started are looked for where they would be.

import assert from "node:assert/strict";
import { basename, dirname } from "node:path";
import { test } from "node:test";
import type { FileRead } from "../../config/load.ts";
import { loadConfig } from "../../config/load.ts";
import { missingPrograms } from "./programs.ts";

test("what cannot be found is named with its key; what can be is not", async () => {
  const node = process.execPath;
  const yaml = `
agent:
  acp: { command: [no-such-program-at-all, acp] }
  mcp:
    bare: { command: [${JSON.stringify(basename(node))}] }
    whole: { command: [${JSON.stringify(node)}] }
    folder: { command: [./nothing-here] }
    web: { url: http://127.0.0.1:1/mcp }
`;
  const readFile = async (path: string): Promise<FileRead> =>
    path === "/h/config.yaml" ? { type: "read", bytes: Buffer.from(yaml) } : { type: "missing" };
  const loaded = await loadConfig({ home: "/h", env: {}, userHome: null, cwd: "/", readFile });
  assert.ok(loaded.type === "loaded");
  assert.deepEqual(missingPrograms(loaded.config, { home: "/h" }, { PATH: dirname(node) }), [
    { key: "agent.acp.command", program: "no-such-program-at-all" },
    { key: "agent.mcp.folder.command", program: "./nothing-here" },
  ]);
});
