// A gateway without a sandbox: nothing runs until its owner has accepted that, and then nearly everything asks.

import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { scenarios } from "../fakes/models/index.ts";
import { run, until } from "../process/stage.ts";
import { type Life, answerTo, doing, openStage, questionAfter, terminal } from "./stage.ts";

const follow = scenarios["follow"] as NonNullable<(typeof scenarios)[string]>;

type Status = { readonly sandbox?: { readonly type: string; readonly why?: string } | null };
const wallOf = (life: Life) =>
  until(
    () => life.client.get<Status>("/api/status"),
    ({ sandbox }) => sandbox !== null && sandbox !== undefined,
    () => "the gateway knows whether there is a sandbox",
  );

test("switched off as in older releases: it answers, runs no tool, and says both ways out everywhere", async (t) => {
  const stage = await openStage(t, follow, { agent: "  tools: { terminal: { sandbox: off } }" });
  const life = await stage.start();
  const both = /sandbox.* is off.*auto.*agent\.tools\.terminal\.unsafe: true/s;
  assert.match(await life.ask("c", "m1", doing(terminal("touch ran"))), both);
  assert.match(await life.ask("c", "m2", doing({ tool: "write_file", input: { path: "ran", content: "x" } })), both);
  assert.equal(existsSync(join(stage.workspace, "ran")), false);
  const { sandbox } = await wallOf(life);
  assert.equal(sandbox?.type, "missing");
  assert.match(sandbox?.why ?? "", both);
  for (const words of [
    ["config", "check"],
    ["gateway", "status"],
  ]) {
    const { out } = await run(t, stage.home, words);
    assert.match(out, /sandbox/, words.join(" "));
    assert.match(out, /unsafe: true/, words.join(" "));
  }
});

test("accepted: a few commands run, all others ask and say what they can reach", async (t) => {
  const stage = await openStage(t, follow, {
    agent: "  tools: { approvals: never, allowRoot: true, terminal: { sandbox: off, unsafe: true } }",
  });
  const life = await stage.start();
  assert.match(await life.ask("c", "m1", doing(terminal("ls -la | wc -l"))), /^done 1: .*exit code 0/s);
  await life.client.send("c", "m2", doing(terminal("touch ran")));
  const { text, question } = await questionAfter(life.client, "c", "m2");
  assert.match(
    text,
    /^Runs without a sandbox, with all your rights\. It can also reach this gateway's own token and port/,
  );
  assert.deepEqual(question?.choices, ["approve", "deny"]);
  assert.equal(existsSync(join(stage.workspace, "ran")), false);
  await life.client.send("c", "yes", "/approve");
  assert.match(await answerTo(life.client, "c", "m2"), /^done 1: /);
  assert.equal(existsSync(join(stage.workspace, "ran")), true);
});

const needsRoot = process.getuid?.() === 0 ? false : "it needs root";

test("as root nothing runs without a sandbox unless that is accepted as well", { skip: needsRoot }, async (t) => {
  const stage = await openStage(t, follow, { agent: "  tools: { terminal: { sandbox: off, unsafe: true } }" });
  const life = await stage.start();
  assert.match(await life.ask("c", "m1", doing(terminal("ls"))), /runs as root without a sandbox.*allowRoot/s);
});
