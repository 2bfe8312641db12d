// The health of platforms, from outside: real gateway processes, fakes of the servers, the commands of the real program. A wrong
// token, a server that is not there, two gateways with one token.

import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { fakeMatrix } from "../fakes/matrix.ts";
import { FakeTelegram } from "../fakes/telegram.ts";
import { type Gateway, atEnd, endWhoeverServes, patienceMs, run, runGateway, until } from "../process/stage.ts";
import { answer, configOf, homeFor } from "./telegram-stage.ts";

const limit = { timeout: 3 * patienceMs };
const wrong = "777:planted-wrong-token";
const room = "!home:fake.test";

async function everturn(t: TestContext, home: string, ...words: readonly string[]): Promise<string> {
  const { out, err } = await run(t, home, words);
  return `${out}${err}`;
}

/** Looks until `gateway status` says it. */
function told(t: TestContext, home: string, like: RegExp): Promise<string> {
  return until(
    () => everturn(t, home, "gateway", "status"),
    (said) => like.test(said),
    `\`gateway status\` says ${like.source}`,
    200,
  );
}

async function readyz(gateway: Gateway): Promise<{ readonly status: number; readonly reason: string | null }> {
  const response = await fetch(`${gateway.url}/readyz`);
  return { status: response.status, reason: ((await response.json()) as { reason: string | null }).reason };
}

const logOf = (home: string) => readFileSync(join(home, "logs", "gateway.log"), "utf8");
const timesIn = (text: string, like: RegExp) => text.match(new RegExp(like, "g"))?.length ?? 0;

test("a wrong token is told everywhere, once; a right one takes up what was written meanwhile", limit, async (t) => {
  const fake = await FakeTelegram.start();
  atEnd(t, () => fake.close());
  const matrix = await fakeMatrix();
  atEnd(t, () => matrix.close());
  matrix.makeRoom(room, ["@ann:fake.test"]);
  const other = `  matrix:
    homeserver: ${matrix.url}
    user: "${matrix.user}"
    token: ${matrix.token}
    allow: ["*"]
    restartNotices: false
    home: { chat: "${room}" }
`;
  const right = configOf(fake, other);
  const home = homeFor(t, right.replace(fake.token, wrong));
  const notices = () => matrix.shown(room).filter(({ text }) => /telegram does not let us in/.test(text)).length;

  for (const life of [1, 2]) {
    const before = fake.calls.length;
    const gateway = await runGateway(t, home);
    const status = await told(t, home, /telegram denied: .*Correct `platforms\.telegram`/);
    assert.match(status, /^state +degraded: telegram does not let us in$/m);
    const reason = /telegram denied: ([^.]*)\./.exec(status)?.[1] ?? "";
    assert.equal(status.split(reason).length, 2, "the reason is told once");
    const ready = await readyz(gateway);
    assert.equal(ready.status, 503);
    assert.equal(ready.reason, "telegram does not let us in");
    await until(notices, (count) => count === 1, "the home on Matrix was told once");
    const refused = fake.calls.slice(before).filter((call) => call.code === 401);
    assert.equal(refused.length, 1, "tried once a life");
    if (life === 1) {
      const doctor = await everturn(t, home, "doctor");
      assert.match(doctor, /fault +platforms +telegram\/777 is denied: .*\n *Correct `platforms\.telegram`/);
      const deep = await everturn(t, home, "gateway", "status", "--deep");
      assert.match(deep, /ok +matrix\/@bot:fake\.test +up for /);
      assert.match(deep, /fault +telegram\/777 +denied/);
      assert.equal(deep.split(reason).length, 2, "the deep look tells it once as well");
    }
    assert.equal(await gateway.end(), 0);
    const refusals = timesIn(logOf(home), /"what":"platform does not let us in"/);
    assert.equal(refusals, life, "once in the log of each life");
  }
  assert.equal(notices(), 1, "the same configuration is told of once");

  const ann = fake.person("Ann");
  ann.write("are you there?");
  writeFileSync(join(home, "config.yaml"), right);
  const gateway = await runGateway(t, home);
  await answer(fake, ann.chat, /are you there/);
  await told(t, home, /telegram up for /);
  assert.equal((await readyz(gateway)).status, 200);
  const everything = `${logOf(home)}${gateway.out()}${gateway.err()}${await everturn(t, home, "config", "show")}`;
  for (const secret of [wrong, fake.token, matrix.token]) assert.ok(!everything.includes(secret));
});

test("a gateway is ready without its platforms, and takes them up when they come", limit, async (t) => {
  const fake = await FakeTelegram.start();
  atEnd(t, () => fake.close());
  const home = homeFor(t, configOf(fake));
  const ann = fake.person("Ann");
  ann.write("written before");
  await fake.down();
  const gateway = await runGateway(t, home);
  assert.equal((await readyz(gateway)).status, 200, "for now nobody worries");
  const status = await told(t, home, /telegram down for .*\((?:next try in|trying now)/);
  assert.match(status, /^state +running/m);
  assert.match(status, /^ *web up for|platforms +web up for/m);
  await fake.up();
  await answer(fake, ann.chat, /written before/);
  await told(t, home, /telegram up for .*last heard/);
  assert.equal(await gateway.end(), 0);
});

test("two gateways with one token: each is told, nothing is lost, and the one that stays goes on", limit, async (t) => {
  const fake = await FakeTelegram.start();
  atEnd(t, () => fake.close());
  const homes = [homeFor(t, configOf(fake)), homeFor(t, configOf(fake))] as const;
  const first = await runGateway(t, homes[0]);
  await told(t, homes[0], /telegram up for /);
  const second = await runGateway(t, homes[1]);
  const named = async () => (await Promise.all(homes.map((home) => everturn(t, home, "gateway", "status")))).join("\n");
  await until(named, (said) => /telegram down for .*Another program/i.test(said), "it is named in the status", 200);
  const ann = fake.person("Ann");
  for (let i = 0; i < 5; i++) ann.write(`number ${i}`);
  for (let i = 0; i < 5; i++) await answer(fake, ann.chat, new RegExp(`number ${i}`));
  assert.equal(await second.end(), 0);
  await told(t, homes[0], /telegram up for /);
  ann.write("and now?");
  await answer(fake, ann.chat, /and now/);
  assert.equal(await first.end(), 0);
  const logs = logOf(homes[0]) + logOf(homes[1]);
  assert.match(logs, /"what":"platform lost".*Another program/i);
  assert.ok(!logs.includes(fake.token));
});

test(
  "whoever starts a gateway with a wrong token is told so by that very command, and at a restart again",
  limit,
  async (t) => {
    const fake = await FakeTelegram.start();
    atEnd(t, () => fake.close());
    const home = homeFor(t, configOf(fake).replace(fake.token, wrong));
    atEnd(t, () => endWhoeverServes(home));
    const refused =
      /\nIt is degraded: telegram does not let us in\.\ntelegram: does not let us in: .*Correct `platforms\.telegram`/;
    const begun = await run(t, home, ["gateway", "start"]);
    assert.equal(begun.code, 0, begun.err);
    assert.match(begun.out, refused);
    assert.match((await run(t, home, ["gateway", "restart"])).out, refused);
    writeFileSync(join(home, "config.yaml"), configOf(fake));
    const { out, code } = await run(t, home, ["gateway", "restart", "--json"]);
    assert.equal(code, 0);
    const { platforms } = JSON.parse(out.trim().split("\n").at(-1) ?? "") as { readonly platforms: unknown };
    assert.deepEqual(platforms, [{ platform: "telegram", account: fake.token.split(":")[0], state: "up", why: null }]);
    assert.match((await run(t, home, ["gateway", "start"])).out, /already serves .*\n.*\ntelegram: connected$/m);
  },
);
