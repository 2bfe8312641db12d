// From the configuration to what the engine goes by: who may speak at which platform, and who owns the gateway.

import assert from "node:assert/strict";
import { test } from "node:test";
import { type FileRead, loadConfig } from "../../config/load.ts";
import { platformSettings } from "./index.ts";

async function settings(yaml: string, accounts: Readonly<Record<string, string>> = {}) {
  const readFile = async (path: string): Promise<FileRead> =>
    path === "/h/config.yaml" ? { type: "read", bytes: Buffer.from(yaml) } : { type: "missing" };
  const read = await loadConfig({ home: "/h", env: {}, userHome: null, cwd: "/", readFile });
  assert.ok("config" in read, JSON.stringify(read));
  return platformSettings(read.config, accounts);
}

test("our own clients are not asked who they are, and own the gateway", async () => {
  const { web, terminal } = await settings("platforms: {}");
  for (const own of [web, terminal]) assert.deepEqual([own?.access, own?.admins], [null, ["*"]]);
});

test("out there nobody may speak until somebody says so", async () => {
  const { telegram } = await settings("platforms:\n  telegram: { token: 1:x }");
  assert.deepEqual(telegram?.access, { allow: [], groups: "mention", chats: {}, pairing: true });
  assert.deepEqual([telegram?.admins, telegram?.home], [[], null]);
});

test("ids may be numbers, however long, and chats have rules of their own", async () => {
  const lines = [
    "token: 1:x",
    'allow: [12345678, 12345678901234567890, "@ann"]',
    "admins: [7]",
    "groups: all",
    "pairing: false",
    'chats: { "-100": { allow: ["*"], groups: off }, "-200": {} }',
    "home: { chat: -100, thread: 7 }",
  ];
  const { telegram } = await settings(`platforms:\n  telegram:\n${lines.map((line) => `    ${line}\n`).join("")}`, {
    telegram: "1",
  });
  assert.deepEqual(telegram?.access, {
    allow: ["12345678", "12345678901234567890", "@ann"],
    groups: "all",
    chats: { "-100": { allow: ["*"], groups: "off" }, "-200": {} },
    pairing: false,
  });
  assert.deepEqual([telegram?.admins, telegram?.home], [["7"], { account: "1", chat: "-100", thread: "7" }]);
});

test("who holds a key or can sign may speak, and commands nothing unless told so", async () => {
  const { api, hooks } = await settings(
    "platforms:\n  api: { keys: { ann: a-key-of-sixteen } }\n  hooks: { ci: { secret: a-secret-of-sixteen } }",
  );
  assert.deepEqual([api?.access?.allow, api?.access?.pairing, api?.admins], [["*"], false, ["owner"]]);
  assert.deepEqual([hooks?.access?.allow, hooks?.access?.pairing, hooks?.admins], [["*"], false, []]);
});
