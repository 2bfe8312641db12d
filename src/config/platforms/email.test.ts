import assert from "node:assert/strict";
import { test } from "node:test";
import { sentenceOfFault } from "../faults.ts";
import { type FileRead, loadConfig } from "../load.ts";

test("senders that must be vouched for need the name of whoever vouches", async () => {
  const faultsOf = async (more: string) => {
    const yaml = `platforms:\n  email:\n    address: bot@example.org\n    imap: { host: a }\n    smtp: { host: b }\n${more}`;
    const readFile = async (path: string): Promise<FileRead> =>
      path === "/h/config.yaml" ? { type: "read", bytes: Buffer.from(yaml) } : { type: "missing" };
    const loaded = await loadConfig({ home: "/h", env: {}, userHome: null, cwd: "/", readFile });
    return loaded.type === "wrong" ? loaded.faults.map(sentenceOfFault) : [];
  };
  assert.deepEqual(await faultsOf(""), []);
  assert.deepEqual(await faultsOf("    verify: require\n    authServer: mx.example.org\n"), []);
  const [fault = "", ...more] = await faultsOf("    verify: require\n");
  assert.match(fault, /platforms\.email\.authServer must be set where verify is require: .*Authentication-Results/);
  assert.deepEqual(more, []);
});
