// Every platform that can be configured: the smallest configuration that works, with secrets that never print; a key that is
// misspelt is suggested; a value that is wrong is told with its line. A new platform adds its row.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { inspect } from "node:util";
import { sentenceOfFault } from "../faults.ts";
import { type FileRead, loadConfig } from "../load.ts";
import { secretsOf, toPrintable } from "../secret.ts";
import { platforms } from "./index.ts";

type Row = {
  /** Lines below the platform's name. */
  readonly lines: readonly string[];
  /** What must not be seen. */
  readonly secrets: readonly string[];
  /** What it cannot do without. */
  readonly needs: readonly string[];
};

const rows: Readonly<Record<string, Row>> = {
  telegram: {
    lines: [
      "token: 123456:AAplanted-token",
      "webhook: { url: https://x.example.org/telegram/updates, secretToken: planted-webhook-secret }",
    ],
    secrets: ["123456:AAplanted-token", "planted-webhook-secret"],
    needs: ["token"],
  },
  discord: { lines: ["token: MTIz.planted.discord-token"], secrets: ["MTIz.planted.discord-token"], needs: ["token"] },
  slack: {
    lines: ["botToken: xoxb-planted-bot", "appToken: xapp-1-A0PLANTED-app"],
    secrets: ["xoxb-planted-bot", "xapp-1-A0PLANTED-app"],
    needs: ["botToken", "appToken"],
  },
  irc: {
    lines: [
      "host: irc.example.org",
      "nick: ever",
      "password: planted-server",
      "sasl: { account: ever, password: planted-sasl }",
    ],
    secrets: ["planted-server", "planted-sasl"],
    needs: ["host", "nick"],
  },
  matrix: {
    lines: ["homeserver: https://m.example.org", "user: '@bot:example.org'", "token: syt_planted_matrix"],
    secrets: ["syt_planted_matrix"],
    needs: ["homeserver", "user", "token"],
  },
  email: {
    lines: [
      "address: bot@example.org",
      "imap: { host: imap.example.org, password: planted-imap-pass }",
      "smtp: { host: smtp.example.org, password: planted-smtp-pass }",
    ],
    secrets: ["planted-imap-pass", "planted-smtp-pass"],
    needs: ["address", "imap", "smtp"],
  },
  api: { lines: ["keys: { ann: planted-api-key-of-ann }"], secrets: ["planted-api-key-of-ann"], needs: [] },
};

async function load(name: string, lines: readonly string[]) {
  const yaml = `platforms:\n  ${name}:\n${lines.map((line) => `    ${line}\n`).join("")}`;
  const readFile = async (path: string): Promise<FileRead> =>
    path === "/h/config.yaml" ? { type: "read", bytes: Buffer.from(yaml) } : { type: "missing" };
  return loadConfig({ home: "/h", env: {}, userHome: null, cwd: "/", readFile });
}

async function faultsOf(name: string, lines: readonly string[]): Promise<readonly string[]> {
  const loaded = await load(name, lines);
  return loaded.type === "wrong" ? loaded.faults.map(sentenceOfFault) : [];
}

for (const [name, { lines, secrets, needs }] of Object.entries(rows)) {
  describe(name, () => {
    test("the smallest configuration is enough, and nothing of it that is secret prints", async () => {
      const loaded = await load(name, lines);
      assert.ok(loaded.type === "loaded", loaded.type === "wrong" ? loaded.faults.map(sentenceOfFault).join("\n") : "");
      const shown = [JSON.stringify(toPrintable(loaded.config)), JSON.stringify(loaded.config), inspect(loaded.config)];
      for (const secret of secrets) {
        for (const text of shown) assert.ok(!text.includes(secret), text);
        assert.ok(secretsOf(loaded.config).includes(secret), "the log hides it as well");
      }
    });

    test("what is missing is asked for", async () => {
      for (const key of needs) {
        const faults = await faultsOf(
          name,
          lines.filter((line) => !line.startsWith(`${key}:`)),
        );
        assert.ok(
          faults.some((fault) => fault.includes(`platforms.${name}.${key}`)),
          `${key}: ${faults.join(" | ")}`,
        );
      }
    });

    test("a misspelt key is suggested, with its line", async () => {
      const [fault, ...more] = await faultsOf(name, [...lines, "restartNotice: false"]);
      const place = `/h/config.yaml, line ${lines.length + 3}: platforms.${name}.restartNotice`;
      assert.equal(fault, `${place} is not known; did you mean restartNotices?`);
      assert.deepEqual(more, []);
    });

    test("a wrong value has its line, and no secret beside it is repeated", async () => {
      const faults = await faultsOf(name, [...lines, "busy: sometimes", "groups: loud", "admins: ann"]);
      for (const [i, key] of ["busy", "groups", "admins"].entries())
        assert.match(faults[i] ?? "", new RegExp(`line ${lines.length + 3 + i}: platforms\\.${name}\\.${key} must be`));
      for (const secret of secrets) assert.ok(!faults.join("\n").includes(secret));
    });

    test("false switches it off", async () => {
      const readFile = async (path: string): Promise<FileRead> =>
        path === "/h/config.yaml"
          ? { type: "read", bytes: Buffer.from(`platforms: { ${name}: false }\n`) }
          : { type: "missing" };
      const loaded = await loadConfig({ home: "/h", env: {}, userHome: null, cwd: "/", readFile });
      assert.ok(loaded.type === "loaded");
      assert.equal(Object.entries(loaded.config.platforms).find(([key]) => key === name)?.[1], false);
    });
  });
}

test("hooks are groups by their names: their secrets do not print, and their keys are suggested", async () => {
  const lines = [
    "ci:",
    "  secret: planted-hook-secret-1",
    "  reply: { url: https://x.example.org, secret: planted-reply-secret }",
    "  id: event.id",
  ];
  const loaded = await load("hooks", lines);
  assert.ok(loaded.type === "loaded", loaded.type === "wrong" ? loaded.faults.map(sentenceOfFault).join("\n") : "");
  for (const secret of ["planted-hook-secret-1", "planted-reply-secret"]) {
    assert.ok(!JSON.stringify(toPrintable(loaded.config)).includes(secret));
    assert.ok(secretsOf(loaded.config).includes(secret));
  }
  const [fault] = await faultsOf("hooks", [...lines, "  replay: 1"]);
  assert.equal(fault, "/h/config.yaml, line 7: platforms.hooks.ci.replay is not known; did you mean reply?");
  assert.equal((await faultsOf("hooks", [...lines.slice(0, 3), '  id: "{{id}}"'])).length, 1, "a path, no template");
});

test("a secret may come from a variable, and its name is told when it is not set", async () => {
  const [fault] = await faultsOf("telegram", ["token: ${NO_SUCH_TOKEN}"]);
  assert.match(fault ?? "", /line 3: platforms\.telegram\.token .*NO_SUCH_TOKEN/);
});

test("every platform that needs more than a switch has its row", () => {
  const own = Object.keys(platforms.entries).filter((name) => !["web", "terminal", "hooks"].includes(name));
  assert.deepEqual(new Set(Object.keys(rows)), new Set(own));
});
