// What is said of faults that newcomers make with platforms: the real fault by its key, never the value of a secret, and
// advice that works when it is followed.

import assert from "node:assert/strict";
import { test } from "node:test";
import { table } from "../../testing/table.ts";
import { sentenceOfFault } from "../faults.ts";
import { type FileRead, loadConfig } from "../load.ts";

type Row = { readonly name: string; readonly yaml: string; readonly faults: readonly string[] };

async function load(yaml: string, env: Readonly<Record<string, string>> = {}) {
  const readFile = async (path: string): Promise<FileRead> =>
    path === "/h/config.yaml" ? { type: "read", bytes: Buffer.from(yaml) } : { type: "missing" };
  return loadConfig({ home: "/h", env, userHome: null, cwd: "/", readFile });
}

const rows: readonly Row[] = [
  {
    name: "a secret of the wrong form is not shown, nor called what it is not",
    yaml: "slack: { botToken: planted-wrong, appToken: 5 }",
    faults: [
      "slack.botToken must be the Bot User OAuth Token, which begins with xoxb-; correct or remove it",
      "slack.appToken must be text; put it in quotes",
    ],
  },
  {
    name: "a token of Telegram has its form",
    yaml: "telegram: { token: not a token }",
    faults: ["telegram.token must be the token that BotFather told, digits, a colon and letters; correct or remove it"],
  },
  {
    name: "every fault of every hook",
    yaml: "hooks: { ci: { secrt: planted-wrong }, gh: { secret: short, style: githab } }",
    faults: [
      "hooks.ci.secrt is not known; did you mean secret?",
      "hooks.gh.secret must have at least 16 characters; correct or remove it",
      'hooks.gh.style must be everturn or github, but is "githab"; did you mean github?',
    ],
  },
  {
    name: "hooks that are no group",
    yaml: "hooks: true",
    faults: [
      "hooks must be a group of hooks by their names, or false to switch them off, but is true; write names below it, each with its settings",
    ],
  },
  {
    name: "a switch where settings are needed",
    yaml: "matrix: true",
    faults: [
      "matrix must be a group of settings, or false to switch it off, but is true; write its settings below it, at least homeserver, user and token",
    ],
  },
  {
    name: "a switch where none are needed",
    yaml: "api: true",
    faults: ["api must be a group of settings, or false to switch it off, but is true; write {} to use it as it is"],
  },
];

table("faults of platforms", rows, async ({ yaml, faults }) => {
  const loaded = await load(`platforms: { ${yaml} }\n`);
  assert.ok(loaded.type === "wrong");
  const told = loaded.faults.map((one) => sentenceOfFault({ ...one, file: null, line: null, column: null }));
  assert.deepEqual(
    told,
    faults.map((one) => `platforms.${one}`),
  );
});

const telegram = 'platforms: { telegram: { token: "1:AA" } }\n';

test("a variable may give a list of texts as one, or as several with commas", async () => {
  for (const [text, admins] of [
    ["123", ["123"]],
    ["123, ann ,456,", ["123", "ann", "456"]],
    ["*", ["*"]],
    ['[123, "ann"]', ["123", "ann"]],
    ["123456789012345678", ["123456789012345678"]],
  ] as const) {
    const loaded = await load(telegram, { EVERTURN_PLATFORMS__TELEGRAM__ADMINS: text });
    assert.ok(loaded.type === "loaded" && loaded.config.platforms.telegram !== false, text);
    assert.deepEqual(loaded.config.platforms.telegram.admins, admins);
    const filled = await load('platforms: { telegram: { token: "1:AA", admins: "${ADMINS}" } }\n', { ADMINS: text });
    assert.ok(filled.type === "loaded" && filled.config.platforms.telegram !== false, text);
    assert.deepEqual(filled.config.platforms.telegram.admins, admins);
  }
});

test("a program and its arguments are no such list: an argument may hold a comma", async () => {
  const loaded = await load("agent: { backend: acp }\n", { EVERTURN_AGENT__ACP__COMMAND: "opencode acp" });
  assert.ok(loaded.type === "wrong");
  assert.match(loaded.faults.map(sentenceOfFault).join("\n"), /agent\.acp\.command must be a list with a program/);
});
