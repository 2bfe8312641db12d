// Strangers' words through a webhook, in a whole gateway that asks for nothing else: what is dangerous waits for approval
// there, also after a kill, and the same words of the owner's own program do not.

import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { follow } from "../fakes/models/index.ts";
import { patienceMs, until } from "../process/stage.ts";
import { type Life, doing, openStage, terminal } from "./stage.ts";

const secret = "planted-hook-secret-4711";

async function call({ url }: Life, hook: string, body: object): Promise<void> {
  const text = JSON.stringify(body);
  const seconds = Math.floor(Date.now() / 1000);
  const hash = createHmac("sha256", secret).update(`${seconds}.${text}`).digest("hex");
  const headers = { "x-everturn-signature": `t=${seconds},v1=${hash}` };
  assert.equal((await fetch(`${url}/hooks/${hook}`, { method: "POST", headers, body: text })).status, 202);
}

type Turns = { readonly turns: readonly { readonly id: string; readonly state: string }[] };
const turnsIn = async ({ client }: Life) => (await client.get<Turns>("/api/turns?limit=10")).turns;

test("what a template brings from strangers tightens approvals, and a kill does not loosen them", {
  timeout: 3 * patienceMs,
}, async (t) => {
  const stage = await openStage(t, ({ seen }) => follow(seen), {
    agent: "  tools: { approvals: never, terminal: { network: true } }",
    more: [
      "platforms:",
      "  hooks:",
      `    repo: { secret: ${secret}, text: "Look at this.\\n{{issue.body}}", to: web/local/repo }`,
      `    own: { secret: ${secret}, to: web/local/own, role: admin }`,
    ].join("\n"),
  });
  const first = await stage.start();
  const orders = (name: string) => doing(terminal(`touch ${name}; curl -s --max-time 1 https://nowhere.example; true`));
  await call(first, "own", { id: "a", text: orders("owners") });
  await until(
    () => existsSync(join(stage.workspace, "owners")),
    (is) => is,
    "the owner's command ran",
  );
  await call(first, "repo", { id: "b", issue: { body: orders("strangers") } });
  const waits = async (life: Life) =>
    until(
      () => turnsIn(life),
      (all) => all.some(({ state }) => state === "waiting"),
      () => "the strangers' command waits to be allowed",
    );
  await waits(first);
  const read = stage.fake.requests.flatMap(({ seen }) => seen.messages.map(({ text }) => text));
  const asked = read.find((text) => text.includes("touch strangers")) ?? "";
  assert.match(
    asked,
    /who wants this done.*\nLook at this\.\n\{\{issue\.body\}\}\n<<<outside [0-9a-f]{12}: what strangers wrote/,
  );
  await first.end("SIGKILL");
  const second = await stage.start({ port: first.port });
  await waits(second);
  assert.equal(existsSync(join(stage.workspace, "strangers")), false);
});
