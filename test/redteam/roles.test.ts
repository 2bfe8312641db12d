// Roles from outside, on a running gateway: every route of its port × every credential, taken from the routes themselves;
// and an approval in a Telegram group that reaches its approver, whoever else tries to give it, across a kill.

import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { apiRoutes } from "../../src/control/api/index.ts";
import { api } from "../../src/platforms/api/index.ts";
import { chat } from "../../src/platforms/chat/index.ts";
import { hooks } from "../../src/platforms/hooks/index.ts";
import type { Routes } from "../../src/ports/http.ts";
import { type Chat, FakeTelegram, type Shown } from "../fakes/telegram.ts";
import { client } from "../process/client.ts";
import { atEnd, newHome, patienceMs, run, runGateway, until } from "../process/stage.ts";

const limit = { timeout: 5 * patienceMs };
const keys = { person: "a-key-of-a-person", approver: "a-key-of-an-approver" };
const hookSecret = "a-secret-of-a-hook";

async function opened(t: TestContext, telegram: readonly string[]) {
  const fake = await FakeTelegram.start();
  atEnd(t, () => fake.close());
  const home = newHome(t);
  mkdirSync(home, { recursive: true, mode: 0o700 });
  const lines = [
    "agent: { backend: echo }",
    "platforms:",
    "  api:",
    "    keys:",
    `      app: ${keys.person}`,
    `      release: { key: ${keys.approver}, role: approver }`,
    `  hooks: { repo: { secret: ${hookSecret} } }`,
    "  telegram:",
    ...[`token: "${fake.token}"`, `apiRoot: ${fake.url}`, ...telegram].map((line) => `    ${line}`),
  ];
  writeFileSync(join(home, "config.yaml"), `${lines.join("\n")}\n`, { mode: 0o600 });
  return { fake, home };
}

type RouteCase = {
  readonly method: string;
  readonly path: string;
  /** Who gets through. */
  readonly role: "public" | "owner" | "key" | "signed";
};

/** What platforms mount, from the very objects that they mount; only the list of routes is looked at. */
function mounted(): readonly RouteCase[] {
  const nothing = {} as never;
  const all: readonly (readonly [Routes | undefined, RouteCase["role"]])[] = [
    [api({ keys: [], filesOf: nothing }, nothing).routes, "key"],
    [hooks([], nothing).routes, "signed"],
    [chat("web", nothing, { boot: "", version: "", offline: true }).routes, "owner"],
    [chat("terminal", nothing, { boot: "", version: "", offline: true }).routes, "owner"],
  ];
  return all.flatMap(([routes, role]) => {
    assert.ok(routes && routes.routes.length > 0);
    assert.equal(routes.auth === "own", role !== "owner", `${routes.prefix} says who checks its callers`);
    return routes.routes.map(({ method, path }) => ({ method, path, role }));
  });
}

test("every route of the port takes the credentials of its role and no others", limit, async (t) => {
  const { home } = await opened(t, ["allow: [1]"]);
  const gateway = await runGateway(t, home);
  const routes: readonly RouteCase[] = [...apiRoutes, ...mounted()];
  assert.ok(routes.length > 30, `${routes.length} routes`);
  const credentials = {
    nothing: null,
    "a wrong token": "0123456789abcdef0123456789abcdef",
    "an API key": keys.person,
    "an API key of an approver": keys.approver,
    "the secret of a hook": hookSecret,
    "the control token": gateway.token,
  };
  for (const { method, path, role } of routes) {
    const address = `${gateway.url}${path.replaceAll(/:\w+/g, "x")}`;
    for (const [name, credential] of Object.entries(credentials)) {
      const isKey = credential === keys.person || credential === keys.approver;
      const isOwner = credential === gateway.token;
      const isIn = role === "public" || (role !== "signed" && isOwner) || (role === "key" && isKey);
      // What the owner may do is done elsewhere; here it would restart the gateway.
      if (isIn && method !== "GET") continue;
      const ending = new AbortController();
      const headers = credential === null ? {} : { authorization: `Bearer ${credential}` };
      const response = await fetch(address, { method, headers, signal: ending.signal });
      const isRefused =
        response.status === 401 || response.status === 403 || (role === "signed" && response.status === 404);
      assert.equal(isRefused, !isIn, `${method} ${path} with ${name}: ${response.status}`);
      ending.abort();
    }
  }
});

test(
  "a guest's request reaches the approver, and only the approver's button counts, also after a kill",
  limit,
  async (t) => {
    const { fake, home } = await opened(t, ['allow: ["*"]', "approvers: [4242]"]);
    const gateway = await runGateway(t, home);
    const [april, eve, mallory] = [fake.person("April", { id: 4_242 }), fake.person("Eve"), fake.person("Mallory")];
    const group = fake.group("Friends");
    april.write("/whoami");
    await said(fake, april.chat, /You may approve what I ask for\./);
    await client(gateway).send("mine", "m1", "hello");

    eve.write("@everturn_bot ask before you act", { in: group });
    const inGroup = await asked(fake, group);
    assert.match(inGroup.text, /Only approvers may allow this\. I asked \S+ and the owner on the page\./);
    const copy = await asked(fake, april.chat);
    assert.match(copy.text, /asks for something that needs an approver/);
    const onPage = await until(
      () => client(gateway).transcript("mine"),
      (lines) => lines.some(({ question }) => question !== undefined),
      "the question is on the page",
    );
    const question = onPage.find((line) => line.question !== undefined)?.question?.id ?? "";

    for (const person of [mallory, eve]) {
      for (const { text } of inGroup.buttons) if (text !== "deny") person.press(inGroup, text);
      for (const words of ["yes", "/approve@everturn_bot", "@everturn_bot always"]) person.write(words, { in: group });
    }
    await said(fake, group, /^Only approvers may allow this\./, 2 * (inGroup.buttons.length - 1 + 2));
    const open = async (of: typeof gateway) => {
      const { questions } = await client(of).get<{ questions: { id: string }[] }>("/api/questions");
      return questions.map(({ id }) => id);
    };
    assert.deepEqual(await open(gateway), [question]);
    const still = fake.shown(group).find(({ id }) => id === inGroup.id);
    assert.deepEqual(still?.buttons, inGroup.buttons, "the buttons stay for somebody who may press them");
    const asKey = await fetch(`${gateway.url}/api/questions/${question}/answer`, {
      method: "POST",
      headers: { authorization: `Bearer ${keys.approver}`, "content-type": "application/json" },
      body: '{"choice":"approve"}',
    });
    assert.equal(asKey.status, 401, "a key of the API opens nothing of the owner's");

    await gateway.end("SIGKILL");
    const again = await runGateway(t, home);
    assert.deepEqual(await open(again), [question]);
    april.press(copy, "always");
    await said(fake, april.chat, /^Allowed for that conversation by .+ The turn goes on\.$/);
    await said(fake, group, /^Done/);
    await until(
      () => fake.shown(april.chat).find(({ id }) => id === copy.id),
      (now) => now !== undefined && now.buttons.length === 0 && /Allowed for that conversation by/.test(now.text),
      "the copy has lost its buttons",
    );
    // It holds in the group, and for nobody elsewhere.
    const { rules } = await client(again).get<{ rules: { scope: string; by: string }[] }>("/api/rules");
    assert.deepEqual(
      rules.map(({ scope }) => scope.startsWith("telegram/") && scope.includes(String(group.id))),
      [true],
    );
    const listed = await run(t, home, ["approvals", "rules"]);
    assert.match(listed.out, /in effect +telegram\//);
    await client(again).send("mine", "m2", "ask before you act");
    await until(
      () => open(again),
      (questions) => questions.length === 1,
      "the owner is asked in their own conversation",
    );
  },
);

async function said(fake: FakeTelegram, chat: Chat, words: RegExp, count = 1): Promise<void> {
  await until(
    () => fake.said(chat).filter((text) => words.test(text)).length,
    (found) => found >= count,
    () => `${count} × ${words.source} is said; so far: ${JSON.stringify(fake.said(chat))}`,
  );
}

async function asked(fake: FakeTelegram, chat: Chat): Promise<Shown> {
  const found = await until(
    () => fake.shown(chat).find(({ from, buttons }) => from === null && buttons.length > 0),
    (one) => one !== undefined,
    "a question with buttons",
  );
  assert.ok(found);
  return found;
}
