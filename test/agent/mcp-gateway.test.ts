// MCP servers of a real gateway: what their owner sees of them, and files that they make.

import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import type { Script } from "../fakes/models/index.ts";
import { withoutSandbox } from "../fakes/room.ts";
import { openHttpServer } from "../fakes/mcp/http.ts";
import { run, until } from "../process/stage.ts";
import { answerTo, openStage } from "./stage.ts";

const program = join(import.meta.dirname, "..", "fakes", "mcp", "server.ts");
const limit = { timeout: 180_000 };
const server = (mode: string): string => `{ command: [${JSON.stringify(process.execPath)}, ${program}, ${mode}, .] }`;

test("the state of every server is in the status, the doctor and the metrics", limit, async (t) => {
  const locked = await openHttpServer({ key: "some-key-1234" });
  t.after(() => locked.close());
  const stage = await openStage(t, () => ({ text: "hello" }), {
    agent: `  mcp:
    fine: ${server("plain")}
    broken: ${server("exit")}
    locked: { url: "${locked.url}" }
    wrong: { url: "${locked.url}", headers: { Authorization: "Bearer some-key-1234" } }`,
  });
  const life = await stage.start();
  await life.ask("c", "m1", "hello");
  const get = async (path: string): Promise<string> =>
    (await fetch(`${life.url}${path}`, { headers: { authorization: `Bearer ${life.token}` } })).text();
  await until(
    () => get("/metrics"),
    (text) => /everturn_mcp_servers\{state="starting"\} 0/.test(text),
    "every server has answered or failed",
  );
  const metrics = await get("/metrics");
  for (const line of [
    'everturn_mcp_server_up{server="fine"} 1',
    'everturn_mcp_server_up{server="broken"} 0',
    'everturn_mcp_servers{state="ready"} 2',
    'everturn_mcp_servers{state="degraded"} 1',
    'everturn_mcp_servers{state="login-needed"} 1',
  ])
    assert.ok(metrics.includes(`${line}\n`), `${line} in\n${metrics}`);
  const typed = async (...words: string[]): Promise<string> => {
    const { out, err } = await run(t, stage.home, words);
    return out + err;
  };
  const deep = await typed("gateway", "status", "--deep");
  assert.match(deep, /mcp fine +ready, 23 tools, protocol 2025-06-18/);
  assert.match(deep, /mcp broken +degraded: it ended with exit code 3; its last words: no licence found/);
  assert.match(deep, /mcp locked +waiting for a login: it requires a login \(HTTP 401\)/);
  const doctor = await typed("doctor");
  assert.match(doctor, /broken is degraded: .*exit code 3/);
  assert.match(doctor, /locked is waiting for a login/);
  assert.match(doctor, /Put a valid token into agent\.mcp\.locked\.headers/);
  const list = await typed("mcp", "list");
  assert.match(list, /broken +degraded .*exit code 3/);
  assert.match(list, /locked +login needed /);
  assert.equal(await life.end(), 0);
});

const skip = await withoutSandbox();

test("a model without eyes gets the path of an image, and sends it on under its name", {
  ...limit,
  skip,
}, async (t) => {
  const shown: string[] = [];
  const script: Script = ({ seen, nth }) => {
    const text = seen.messages.map((message) => message.text).join("\n");
    shown.push(seen.messages.flatMap(({ files }) => files).join());
    if (nth === 1) return { calls: [{ name: "own__image", input: {} }] };
    const path = /image-1\.png, image\/png, \d+ bytes, saved as (\S+\/image-1\.png)\./.exec(text)?.[1];
    if (nth === 2) return { calls: [{ name: "send_file", input: { path: path ?? `no path in ${text}` } }] };
    return { text: "sent" };
  };
  const stage = await openStage(t, script, {
    agent: `  vision: false\n  tools: { approvals: never }\n  mcp: { own: ${server("plain")} }`,
  });
  const life = await stage.start();
  await life.client.send("c", "m1", "draw something");
  await answerTo(life.client, "c", "m1");
  const sent = await until(
    () => life.client.transcript("c"),
    (all) => all.some((one) => (one.files?.length ?? 0) > 0) && all.some((one) => one.text === "sent"),
    "the file is sent",
  );
  const files = sent.flatMap((one) => one.files ?? []);
  assert.deepEqual(
    files.map(({ name, mime }) => ({ name, mime })),
    [{ name: "image-1.png", mime: "image/png" }],
  );
  assert.ok(
    shown.every((types) => types === ""),
    "no image is shown to it",
  );
  assert.equal(await life.end(), 0);
});
