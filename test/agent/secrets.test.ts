// Keys, tokens and what stands in .env never leave: a model that is told everything a tool can see finds none of them in
// its requests, and neither does whoever reads the store, the log, previews or answers.

import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { test } from "node:test";
import { type Script, follow as obey } from "../fakes/models/index.ts";
import { type Life, answerTo, doing, openStage, plantedKey, terminal } from "./stage.ts";

const inDotenv = "planted-value-of-dotenv-0815";
const inEnvironment = "planted-value-of-environment-2342";
const headerValue = "planted-value-of-a-header-1337";

/** Says everything it has seen, a piece at a time, so that it would be in previews and in the answer. */
const script: Script = ({ seen }) => {
  const plan = obey(seen);
  if (!("text" in plan)) return plan;
  const results = seen.messages.flatMap((one) => one.results.map((result) => result.text));
  return { text: `I saw: ${results.join("\n")} and made up ${plantedKey}`, grain: 40, everyMs: 1 };
};

/** Approves whatever is asked, until it is told that it is enough. */
function answerAll({ client }: Life): () => Promise<void> {
  const body = JSON.stringify({ choice: "approve" });
  let isEnough = false;
  const answering = (async () => {
    for (; !isEnough; await pause(200)) {
      const { questions } = await client.get<{ questions: readonly { id: string }[] }>("/api/questions");
      for (const { id } of questions) await client.call(`/api/questions/${id}/answer`, { method: "POST", body });
    }
  })();
  return () => {
    isEnough = true;
    return answering;
  };
}

test("planted secrets appear nowhere", async (t) => {
  const stage = await openStage(t, script, {
    dotenv: `SERVICE_TOKEN=${inDotenv}\n`,
    agent: `  providers: { openai: { headers: { x-team: ${headerValue} } } }`,
  });
  const life = await stage.start({ env: { SOME_API_KEY: inEnvironment } });
  const secrets = [plantedKey, inDotenv, inEnvironment, headerValue, life.token];
  const seen: string[] = [];
  const over = new AbortController();
  const watching = (async () => {
    for await (const event of life.client.events("c", 0, over.signal)) seen.push(JSON.stringify(event));
  })().catch(() => undefined);
  const key = Buffer.from(plantedKey).toString("base64");
  // In two halves, because what a user writes is the user's own.
  const halves = `'${key.slice(0, 9)}''${key.slice(9)}'`;
  await life.client.send(
    "c",
    "m1",
    doing(
      terminal("env; cat /proc/self/environ | tr '\\0' '\\n'"),
      terminal(`cat ../config.yaml ../.env ../control.token; echo ${plantedKey.slice(0, 8)}`),
      { tool: "read_file", input: { path: "../config.yaml" } },
      { tool: "search_files", input: { pattern: "planted", path: ".." } },
      terminal(
        `echo ${halves} | tee /dev/stderr | base64 -d; tr '\\0' '\\n' < /proc/$PPID/environ; cat /proc/[0-9]*/environ`,
      ),
    ),
  );
  // Reading what is secret is asked for; the owner says yes to all of it here, and it is hidden all the same.
  const enough = answerAll(life);
  const answer = await answerTo(life.client, "c", "m1");
  await enough();
  assert.match(answer, /^I saw: /);
  over.abort();
  await watching;
  await life.end("SIGTERM");
  const places: Readonly<Record<string, string>> = {
    "the answer": answer,
    "what a client heard": seen.join("\n"),
    "requests to the model": stage.fake.requests.map(({ body }) => JSON.stringify(body)).join("\n"),
    "what the gateway said": life.err() + life.out().replaceAll(`token=${life.token}`, "token="),
    ...Object.fromEntries(
      readdirSync(stage.home)
        .filter((name) => name.startsWith("state.db"))
        .map((name) => [name, readFileSync(join(stage.home, name), "latin1")]),
    ),
    ...Object.fromEntries(
      readdirSync(join(stage.home, "logs")).map((name) => [name, readFileSync(join(stage.home, "logs", name), "utf8")]),
    ),
  };
  for (const [place, text] of Object.entries(places)) {
    for (const secret of secrets) assert.ok(!text.includes(secret), `${secret} is in ${place}`);
    assert.ok(!text.includes(key), `the encoded key is in ${place}`);
  }
  assert.ok(places["requests to the model"]?.includes("PATH="), "the tools did run");
});
