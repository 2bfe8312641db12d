// Longer stories, cut in the middle: a conversation that is summarised, and a call to a server of tools.

import assert from "node:assert/strict";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { type Script, follow as obey } from "../fakes/models/index.ts";
import { root, until } from "../process/stage.ts";
import { linesIn } from "../lines.ts";
import { answerTo, doing, openStage, terminal } from "./stage.ts";

/** A request without tools is the one for a summary. */
const isSummary = (tools: readonly string[]): boolean => tools.length === 0;

test("killed while its conversation is summarised, it is summarised again and goes on", {
  timeout: 300_000,
}, async (t) => {
  let summaries = 0;
  const wait = Promise.withResolvers<void>();
  const script: Script = async ({ seen }) => {
    // After a summary the calls are not in front of the model any more; this one takes its word for them.
    if (!isSummary(seen.tools)) return summaries > 0 ? { text: "went on after the summary" } : obey(seen);
    summaries++;
    if (summaries === 1) await wait.promise;
    return { text: "Summary: the user wants many lines to be printed; it is nearly done." };
  };
  const stage = await openStage(t, script, { agent: "  contextTokens: 12000" });
  const first = await stage.start();
  const { port } = first;
  const long = Array.from({ length: 12 }, (_, i) => terminal(`echo ${i} >> ledger; seq ${i}00000 ${i}00900`));
  await first.client.send("c", "m1", doing(...long));
  await until(
    () => summaries,
    (count) => count > 0,
    "a summary is asked for",
  );
  await first.end("SIGKILL");
  wait.resolve();
  const second = await stage.start({ port });
  assert.match(await answerTo(second.client, "c", "m1"), /^went on after the summary$/);
  assert.ok(summaries >= 2, `${summaries} summaries`);
  const lines = linesIn(join(stage.workspace, "ledger"));
  assert.deepEqual(lines, [...new Set(lines)], "a finished tool ran again");
  const found = await second.client.get<{ turns: readonly { id: string }[] }>("/api/turns?limit=5");
  const journal = JSON.stringify(await second.client.get<object>(`/api/turns/${found.turns[0]?.id}`));
  assert.match(journal, /"compacted"/);
});

test("killed inside of a call to a server of tools: it is not made twice, and its fate is told", async (t) => {
  const server = join(root, "test", "fakes", "mcp", "server.ts");
  const home = { folder: "" };
  const stage = await openStage(t, ({ seen }) => obey(seen), {
    agent: [
      "  tools: { approvals: never }",
      `  mcp: { own: { command: [${JSON.stringify(process.execPath)}, ${JSON.stringify(server)}, plain, calls] } }`,
    ].join("\n"),
  });
  home.folder = join(stage.workspace, "calls");
  mkdirSync(home.folder, { recursive: true });
  const calls = () => linesIn(join(home.folder, "calls")).filter((line) => line.includes("slow"));
  const first = await stage.start();
  const { port } = first;
  await first.client.send("c", "m1", doing({ tool: "own__slow", input: { text: "once" } }, terminal("echo after")));
  await until(calls, (lines) => lines.length > 0, "the call has reached the server");
  await first.end("SIGKILL");
  const second = await stage.start({ port });
  assert.match(await answerTo(second.client, "c", "m1"), /^done 2: [\s\S]*after/);
  assert.equal(calls().length, 1, calls().join("\n"));
  const results = stage.fake.requests.at(-1)?.seen.messages.flatMap((one) => one.results.map(({ text }) => text)) ?? [];
  assert.match(results[0] ?? "", /nobody knows|unknown/i);
  // The server is there again for whoever needs it.
  assert.match(await second.ask("d", "m2", doing({ tool: "own__echo", input: { text: "again" } })), /again/);
});
