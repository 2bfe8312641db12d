// `everturn send` from outside: what it says, its exit code and its JSON, when the platform takes the message, refuses it,
// does not accept the account, or is away, and when the gateway is lost while it waits.

import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { type IncomingMessage, type ServerResponse, createServer } from "node:http";
import { join } from "node:path";
import { text as readAll } from "node:stream/consumers";
import { type TestContext, test } from "node:test";
import { FakeTelegram } from "../fakes/telegram.ts";
import { type Gateway, atEnd, newHome, patienceMs, run, runGateway, stateOf, until } from "../process/stage.ts";
import { configOf, homeFor } from "./telegram-stage.ts";

const limit = { timeout: 3 * patienceMs };

test("a message that arrives, one to an unknown chat, and both again under their keys", limit, async (t) => {
  const fake = await FakeTelegram.start();
  atEnd(t, () => fake.close());
  const home = homeFor(t, configOf(fake));
  await runGateway(t, home);
  await until(
    () => fake.isPolled,
    (polled) => polled,
    "it polls",
  );
  const ada = fake.person("Ada");
  const to = `telegram/777/${ada.id}`;
  const fine = await run(t, home, ["send", to, "hello", "--key", "one"]);
  assert.deepEqual([fine.code, fine.out, fine.err], [0, `Delivered to ${to}.\n`, ""]);
  assert.deepEqual(fake.said(ada.chat), ["hello"]);

  const nowhere = "telegram/777/424242";
  const refused = await run(t, home, ["send", nowhere, "hello", "--key", "two"]);
  assert.equal(refused.code, 1);
  assert.match(
    refused.out,
    /^Not sent to telegram\/777\/424242: .*chat not found.*\. Check the address: `everturn sess/,
  );
  const again = await run(t, home, ["send", nowhere, "hello", "--key", "two", "--json"]);
  assert.equal(again.code, 1);
  const told = JSON.parse(again.out) as { status: string; key: string; delivery: { state: string; why: string } };
  assert.deepEqual([told.status, told.key, told.delivery.state], ["duplicate", "two", "refused"]);
  assert.match(told.delivery.why, /chat not found/);
  const twice = await run(t, home, ["send", to, "hello", "--key", "one"]);
  assert.equal(twice.code, 0);
  assert.match(twice.out, /^A message with this key was sent before; nothing was sent now\. Delivered to /);
  assert.deepEqual(fake.said(ada.chat), ["hello"]);
});

test("a wrong token: it is not sent, and what to correct is named", limit, async (t) => {
  const fake = await FakeTelegram.start();
  atEnd(t, () => fake.close());
  const home = homeFor(t, configOf(fake).replace(fake.token, "777:planted-wrong-token"));
  await runGateway(t, home);
  const ada = fake.person("Ada");
  const denied = await until(
    () => run(t, home, ["send", `telegram/777/${ada.id}`, "hello", "--key", "one"]),
    ({ code }) => code === 1,
    "the account is denied",
    200,
  );
  assert.match(denied.out, /Not sent to telegram\/777\/\d+: .*token.*\. It is sent once that is corrected; /);
});

test("a platform that is away: it is queued, and sent when the platform is back", limit, async (t) => {
  let isAway = true;
  const fake = await FakeTelegram.start({
    breaks: () => (isAway ? { type: "drop", when: "before" } : null),
  });
  atEnd(t, () => fake.close());
  const home = homeFor(t, configOf(fake));
  await runGateway(t, home);
  const ada = fake.person("Ada");
  const queued = await run(t, home, ["send", `telegram/777/${ada.id}`, "hello"]);
  assert.equal(queued.code, 0, queued.out);
  assert.match(queued.out, /^Queued for telegram\/777\/\d+: .*It is sent as soon as telegram accepts it; /);
  isAway = false;
  await until(
    () => fake.said(ada.chat),
    (said) => said.length > 0,
    "it arrives",
  );
  assert.deepEqual(fake.said(ada.chat), ["hello"]);
});

/** A home whose gateway is the real one behind a proxy that loses each reply to a request with `waitMs`. */
async function homeThatLosesWaits(t: TestContext, home: string, { url, token }: Gateway): Promise<string> {
  const pass = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const body = await readAll(request);
    const headers = { authorization: request.headers.authorization ?? "", "content-type": "application/json" };
    const reply = await fetch(`${url}${request.url}`, { method: "POST", headers, body });
    const text = await reply.text();
    if ("waitMs" in (JSON.parse(body) as object)) request.socket.destroy();
    else response.writeHead(reply.status, { "content-type": "application/json" }).end(text);
  };
  const proxy = createServer((request, response) => void pass(request, response));
  await new Promise<void>((done) => proxy.listen(0, "127.0.0.1", done));
  atEnd(t, () => proxy.close());
  const { port } = proxy.address() as { port: number };
  const lossy = newHome(t);
  mkdirSync(lossy, { mode: 0o700 });
  writeFileSync(
    join(lossy, "gateway_state.json"),
    JSON.stringify({ ...stateOf(home), url: `http://127.0.0.1:${port}` }),
  );
  writeFileSync(join(lossy, "control.token"), token, { mode: 0o600 });
  return lossy;
}

test("a gateway that is lost while send waits: the message is accepted, and its key finds it", limit, async (t) => {
  const fake = await FakeTelegram.start();
  atEnd(t, () => fake.close());
  const home = homeFor(t, configOf(fake));
  const lossy = await homeThatLosesWaits(t, home, await runGateway(t, home));
  const ada = fake.person("Ada");
  const to = `telegram/777/${ada.id}`;
  const accepted = await run(t, lossy, ["send", to, "hello"]);
  assert.equal(accepted.code, 0, accepted.err);
  const [, key = ""] = /^Accepted for telegram.* and will be sent.*`--key ([\w-]+)`/.exec(accepted.out) ?? [];
  assert.notEqual(key, "", accepted.out);
  const json = await run(t, lossy, ["send", to, "more", "--key", "two", "--json"]);
  assert.deepEqual([json.code, JSON.parse(json.out)], [0, { status: "posted", key: "two" }]);
  const again = await run(t, home, ["send", to, "hello", "--key", key]);
  assert.match(again.out, /^A message with this key was sent before; nothing was sent now\./);
  await until(
    () => fake.said(ada.chat),
    (said) => said.length > 1,
    "both arrive",
  );
  assert.deepEqual(fake.said(ada.chat), ["hello", "more"]);
});
