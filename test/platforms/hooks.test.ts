// Webhooks with real gateways: signed calls in, answers out to a receiver and into another chat, hostile calls, and kills.

import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { type TestContext, describe, test } from "node:test";
import { type Receiver, receiver } from "../fakes/receiver.ts";
import { client } from "../process/client.ts";
import { type Gateway, atEnd, newHome, patienceMs, runGateway, until } from "../process/stage.ts";
import { chaos } from "./chaos.ts";

const secret = "a secret of some length";
const answers = "another secret of some length";

const configOf = (url: string) => `platforms:
  hooks:
    ci:
      secret: \${CI_SECRET}
      reply: { url: ${url}, secret: "\${ANSWERS_SECRET}" }
    repo:
      secret: \${CI_SECRET}
      style: github
      text: "{{repository.full_name}} got: {{commits.0.message}}"
      to: web/local/builds
    scans:
      secret: \${CI_SECRET}
      to: web/local/scans
`;
const env = { CI_SECRET: secret, ANSWERS_SECRET: answers };

async function opened(t: TestContext): Promise<Receiver> {
  const far = await receiver(answers);
  atEnd(t, () => far.goDown());
  return far;
}

async function started(t: TestContext): Promise<{ readonly gateway: Gateway; readonly far: Receiver }> {
  const far = await opened(t);
  const home = newHome(t);
  mkdirSync(home, { recursive: true, mode: 0o700 });
  writeFileSync(join(home, "config.yaml"), configOf(far.url));
  return { gateway: await runGateway(t, home, { env }), far };
}

/** Written apart from the program's own signatures, to judge them. */
function signed(body: string, at = Date.now(), by = secret): Record<string, string> {
  const seconds = Math.floor(at / 1000);
  const hash = createHmac("sha256", by).update(`${seconds}.${body}`).digest("hex");
  return { "x-everturn-signature": `t=${seconds},v1=${hash}` };
}

function call(url: string, name: string, body: string, headers: Record<string, string>): Promise<Response> {
  return fetch(`${url}/hooks/${name}`, { method: "POST", headers, body });
}

describe("webhooks", { timeout: 3 * patienceMs }, () => {
  test("a signed call is stored, answered once and in words that name it", async (t) => {
    const { gateway, far } = await started(t);
    const file = { name: "a.txt", mime: "text/plain", data: Buffer.from("abc").toString("base64") };
    const body = JSON.stringify({ id: "build-1", chat: "main", sender: "ada", text: "send it back", files: [file] });
    const first = await call(gateway.url, "ci", body, signed(body));
    assert.deepEqual([first.status, await first.json()], [202, { status: "accepted", id: "build-1" }]);
    // The file, then the words.
    await until(
      () => far.taken.length,
      (n) => n === 2,
      "the answer came",
    );
    const answer = far.taken.find(({ files }) => files !== undefined);
    assert.deepEqual([answer?.hook, answer?.chat, answer?.answers], ["ci", "main", "build-1"]);
    assert.equal(Buffer.from(answer?.files?.[0]?.data ?? "", "base64").toString(), "abc");
    // Sent again, by its sender or by somebody who heard it, it is nothing new.
    const again = await call(gateway.url, "ci", body, signed(body));
    assert.deepEqual([again.status, await again.json()], [200, { status: "duplicate", id: "build-1" }]);
    const other = JSON.stringify({ id: "build-2", chat: "main", text: "and now?" });
    assert.equal((await call(gateway.url, "ci", other, signed(other))).status, 202);
    await until(
      () => far.taken.length,
      (n) => n === 3,
      "the second answer came",
    );
    assert.deepEqual([far.taken[2]?.text, far.posts.length, far.unsigned], ["You said: and now?", 3, 0]);
  });

  test("a body of another shape becomes words, and its answer goes into another chat", async (t) => {
    const { gateway } = await started(t);
    const body = JSON.stringify({ repository: { full_name: "ada/x" }, commits: [{ message: "/restart" }] });
    const hash = createHmac("sha256", secret).update(body).digest("hex");
    const headers = { "x-hub-signature-256": `sha256=${hash}`, "x-github-delivery": "d-1" };
    for (const status of [202, 200]) assert.equal((await call(gateway.url, "repo", body, headers)).status, status);
    const web = client(gateway);
    const lines = await until(
      () => web.transcript("builds"),
      (all) => all.length > 0,
      "the chat was told",
    );
    await pause(200);
    assert.equal((await web.transcript("builds")).length, lines.length);
    assert.equal(lines[0]?.text, "You said: Webhook repo:\nada/x got: /restart");
  });

  test("a file of an answer goes with it into the other chat", async (t) => {
    const { gateway } = await started(t);
    const file = { name: "a.txt", mime: "text/plain", data: Buffer.from("abc").toString("base64") };
    const body = JSON.stringify({ id: "scan-1", text: "send it back", files: [file] });
    assert.equal((await call(gateway.url, "scans", body, signed(body))).status, 202);
    const files = await until(
      async () => (await client(gateway).transcript("scans")).flatMap((line) => line.files ?? []),
      (all) => all.length > 0,
      "the chat has the file",
    );
    assert.deepEqual(
      files.map(({ name, bytes }) => [name, bytes]),
      [["a.txt", 3]],
    );
  });

  test("what is not signed, or not meant, is refused and nothing is stored", async (t) => {
    const { gateway, far } = await started(t);
    const good = JSON.stringify({ id: "x", text: "hi" });
    const cases: readonly (readonly [
      what: string,
      status: number,
      name: string,
      body: string,
      headers: Record<string, string>,
    ])[] = [
      ["unsigned", 401, "ci", good, {}],
      ["the control token", 401, "ci", good, { authorization: `Bearer ${gateway.token}` }],
      ["another secret", 401, "ci", good, signed(good, Date.now(), "no secret that it knows")],
      ["another body", 401, "ci", `${good} `, signed(good)],
      ["old", 401, "ci", good, signed(good, Date.now() - 301_000)],
      ["from the future", 401, "ci", good, signed(good, Date.now() + 360_000)],
      ["another style", 401, "repo", good, signed(good)],
      ["no such hook", 404, "nothing", good, signed(good)],
      ["no JSON", 400, "ci", "{", signed("{")],
      ["no text", 400, "ci", "{}", signed("{}")],
      ["too large", 413, "ci", "x".repeat(17 * 1024 * 1024), {}],
      ["a page of another site", 403, "ci", good, { ...signed(good), origin: "https://evil.example" }],
    ];
    for (const [what, status, name, body, headers] of cases) {
      const response = await call(gateway.url, name, body, headers);
      assert.equal(response.status, status, what);
      assert.equal(typeof ((await response.json()) as { error: { message: string } }).error.message, "string");
    }
    assert.equal((await fetch(`${gateway.url}/hooks/ci`)).status, 405);
    const { sessions } = await client(gateway).get<{ sessions: readonly unknown[] }>("/api/sessions?platform=hooks");
    assert.deepEqual([sessions, far.taken], [[], []]);
  });

  test("a receiver that fails gets it again under the same key; one that sends us elsewhere does not", async (t) => {
    const { gateway, far } = await started(t);
    const say = async (id: string) => {
      const body = JSON.stringify({ id, text: id });
      assert.equal((await call(gateway.url, "ci", body, signed(body))).status, 202);
    };
    far.failNext("dropped-after");
    await say("one");
    await until(
      () => far.posts.length,
      (n) => n === 2,
      "it was sent again",
    );
    assert.equal(new Set(far.posts.map(({ id }) => id)).size, 1);
    assert.equal(far.taken.length, 1, "a receiver that keeps keys has it once");
    far.failNext("redirect");
    await say("two");
    const web = client(gateway);
    type Items = { readonly items: readonly { readonly now: { readonly why?: string } }[] };
    const { items } = await until(
      () => web.get<Items>("/api/outbox?state=dead"),
      (found) => found.items.length === 1,
      "it was given up",
    );
    assert.match(JSON.stringify(items), /redirects are not followed/);
    assert.equal(far.taken.length, 1);
  });
});

test("100 calls while it is killed and its receiver fails: none lost, none doubled", {
  timeout: 10 * patienceMs,
}, async (t) => {
  const far = await opened(t);
  let gateway: Gateway | null = null;
  let count = 0;
  const failures = ["rate", "server", "html", "dropped-before", "dropped-after"] as const;

  /** As senders of webhooks do: until it is taken, under the same id. */
  async function say(chat: string, text: string): Promise<void> {
    const body = JSON.stringify({ id: `c${count++}`, chat, text });
    for (const deadline = Date.now() + patienceMs; Date.now() < deadline; await pause(20)) {
      const url = gateway?.url ?? "http://127.0.0.1:1";
      const response = await call(url, "ci", body, signed(body)).catch(() => null);
      await response?.body?.cancel();
      if (response?.status === 200 || response?.status === 202) return;
      assert.ok([undefined, 429, 503].includes(response?.status), `answered with ${response?.status}`);
    }
    assert.fail(`${body} was never taken`);
  }

  const outcome = await chaos(
    t,
    {
      config: configOf(far.url),
      env,
      say,
      seen: (chat) => far.taken.filter((one) => one.chat === chat).map((one) => one.text),
      drop: () => far.failNext(failures[count % failures.length] ?? "server"),
      async restart() {
        await far.goDown();
        await pause(300);
        await far.comeBack();
      },
      up: (one) => (gateway = one),
    },
    { chats: ["a", "b", "c", "d", "e"], messages: 100, kills: 10, slowly: true },
  );
  assert.deepEqual([outcome.lost, outcome.doubled, outcome.reordered], [[], [], []]);
  assert.equal(far.unsigned, 0);
  t.diagnostic(`${far.posts.length} posts for ${far.taken.length} answers`);
});
