// A home with a secret in every place where one can stand: nothing that is shown of it holds one of them, whether it is
// asked for by its owner or written by a gateway that has trouble with all of it. Ordinary words stay as they are.

import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { type Script, openaiError } from "../fakes/models/index.ts";
import { run, until } from "../process/stage.ts";
import { openStage, plantedKey } from "./stage.ts";

const planted = {
  "a key in a list": "planted-listed-key-11",
  "another key in a list": "planted-listed-key-22",
  "a header of a provider": "planted-provider-header-33",
  "a key in the address of a provider": "planted-base-key-44",
  "the environment of a program": "planted-acp-env-55",
  "the environment of a server": "planted-mcp-env-66",
  "a header of a server": "planted-mcp-header-77",
  "a token in the address of a server": "planted-mcp-query-88",
  "a password in an address": "planted-mcp-password-99",
  "what .env says": "planted-dotenv-value-00",
  "what .env says and the configuration uses": "planted-dotenv-used-10",
};

const settings = `  fallback: [anthropic/planted, google/planted]
  providers:
    openai: { headers: { x-api-key: ${planted["a header of a provider"]} } }
    anthropic:
      apiKey: [${planted["a key in a list"]}, ${planted["another key in a list"]}]
      baseUrl: "http://127.0.0.1:9/v1?key=${planted["a key in the address of a provider"]}"
    google: { apiKey: "\${USED}", baseUrl: "http://127.0.0.1:9/" }
  acp: { command: [everturn-is-not-there], env: { SOME_SECRET: ${planted["the environment of a program"]} } }
  mcp:
    near:
      command: [everturn-is-not-there, either]
      env: { ACCESS_TOKEN: ${planted["the environment of a server"]}, NODE_ENV: production }
    far:
      url: "http://127.0.0.1:9/mcp?a=b&token=${planted["a token in the address of a server"]}"
      headers: { Authorization: Bearer ${planted["a header of a server"]} }
    locked: { url: "http://ann:${planted["a password in an address"]}@127.0.0.1:9/mcp" }`;

/** A service that complains, and repeats what it was sent. */
const script: Script = ({ nth }) =>
  nth === 1
    ? { status: 429, body: openaiError(`too much for ${plantedKey}`, "rate_limit"), headers: { "retry-after": "0" } }
    : { text: `we deploy to production with ${Object.values(planted).join(" ")}` };

test("no secret of a home is shown by anything that tells about it", async (t) => {
  const stage = await openStage(t, script, {
    agent: settings,
    more: "log: { level: debug }",
    dotenv: `SERVICE_TOKEN=${planted["what .env says"]}\nUSED=${planted["what .env says and the configuration uses"]}\n`,
  });
  const life = await stage.start();
  const answer = await life.ask("c", "m1", "where do we deploy to?");
  assert.match(answer, /^we deploy to production with \[secret\]/);
  const logs = () => readdirSync(join(stage.home, "logs")).map((name) => join(stage.home, "logs", name));
  const logged = () =>
    logs()
      .map((name) => readFileSync(name, "utf8"))
      .join("\n");
  const servers = ["near", "far", "locked"];
  await until(
    logged,
    (text) => servers.every((name) => text.includes(`"${name}"`)),
    () => `the log tells of every server: ${logged()}`,
  );
  const get = async (path: string): Promise<string> =>
    (await fetch(`${life.url}${path}`, { headers: { authorization: `Bearer ${life.token}` } })).text();
  const typed = async (...words: string[]): Promise<string> => {
    const { out, err } = await run(t, stage.home, words);
    return out + err;
  };
  const places: Record<string, string> = {
    answer,
    "/metrics": await get("/metrics"),
    "/api/status": await get("/api/status"),
  };
  for (const words of [
    "config show",
    "config check",
    "doctor",
    "gateway status",
    "gateway status --deep",
    "mcp list",
    "turns list",
    "logs",
  ])
    for (const more of [[], ["--json"]]) places[[words, ...more].join(" ")] = await typed(...words.split(" "), ...more);
  assert.equal(await life.end(), 0);
  places["the log"] = logged();
  places["what the gateway said"] = life.err() + life.out();
  places["gateway_state.json"] = readFileSync(join(stage.home, "gateway_state.json"), "utf8");

  for (const [place, text] of Object.entries(places)) {
    assert.notEqual(text, "", place);
    for (const [what, secret] of Object.entries({ ...planted, "the key": plantedKey }))
      assert.ok(!text.includes(secret), `${what} is in ${place}`);
  }
  assert.match(
    places["config show"] ?? "",
    /agent\.mcp\.far\.url +"http:\/\/127\.0\.0\.1:9\/mcp\?a=b&token=\[secret\]"/,
  );
  assert.match(places["config show"] ?? "", /agent\.mcp\.near\.env\.NODE_ENV +"\[secret\]"/);
  assert.match(places["doctor"] ?? "", /anthropic\/planted/);
  assert.match(places["the log"] ?? "", /"debug"/);
});
