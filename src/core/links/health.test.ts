// What becomes of a connection's health with everything that happens to it, what is said of it, and when it is a worry.

import assert from "node:assert/strict";
import { test } from "node:test";
import { table } from "../../testing/table.ts";
import type { Instant } from "../ids.ts";
import { limits } from "../limits.ts";
import {
  type Health,
  type HealthNews,
  advanceHealth,
  ailsFrom,
  deniedNotice,
  deniedText,
  healthText,
  isNews,
  linksTrouble,
  newHealth,
} from "./health.ts";

const at = (ms: number) => ms as Instant;
const lost = (why: string, nextTryAt: number): HealthNews => ({ type: "lost", why, nextTryAt: at(nextTryAt) });

/** Each piece of news comes a second after the one before; the first a second after the beginning. */
function after(...news: readonly HealthNews[]): Health {
  return news.reduce((health, one, i) => advanceHealth(health, one, at((i + 1) * 1_000)), newHealth(at(0)));
}

type Row = { readonly name: string; readonly news: readonly HealthNews[]; readonly text: string };

/** As somebody reads it a minute and a half after the beginning. */
const rows: readonly Row[] = [
  { name: "not answered yet", news: [], text: "connecting for 1 min" },
  { name: "up", news: [{ type: "up" }], text: "up for 1 min, nothing heard yet" },
  { name: "up and heard", news: [{ type: "up" }, { type: "heard" }], text: "up for 1 min, last heard 1 min ago" },
  {
    name: "up again says nothing new",
    news: [{ type: "up" }, { type: "up" }],
    text: "up for 1 min, nothing heard yet",
  },
  { name: "never up", news: [lost("no route", 95_000)], text: "down for 1 min: no route (next try in 5 s)" },
  {
    name: "down since it stood, however often it was tried",
    news: [{ type: "up" }, lost("reset", 3_000), { type: "trying" }, lost("refused", 100_000)],
    text: "down for 1 min: refused (next try in 10 s)",
  },
  { name: "being tried", news: [lost("reset", 3_000), { type: "trying" }], text: "down for 1 min: reset (trying now)" },
  {
    name: "a moment that has passed is now",
    news: [lost("reset", 3_000)],
    text: "down for 1 min: reset (next try in 0 s)",
  },
  {
    name: "troubled",
    news: [{ type: "up" }, { type: "troubled", why: "another program polls" }],
    text: "down for 1 min: another program polls",
  },
  {
    name: "trouble is over",
    news: [{ type: "troubled", why: "x" }, { type: "up" }],
    text: "up for 1 min, nothing heard yet",
  },
  { name: "denied", news: [{ type: "denied", why: "wrong token" }], text: "denied: wrong token" },
  { name: "closed", news: [{ type: "up" }, { type: "closed" }], text: "down: the gateway stops" },
];

table("what is said of a connection", rows, ({ news, text }) => {
  assert.equal(healthText(after(...news), at(90_000)), text);
});

test("what is worth a word: another state or another reason, not every try", () => {
  const down = after(lost("no route", 9_000));
  const says = (news: HealthNews) => isNews(down, advanceHealth(down, news, at(5_000)));
  assert.equal(says({ type: "trying" }), false);
  assert.equal(says({ type: "heard" }), false);
  assert.equal(says(lost("no route", 99_000)), false);
  assert.equal(says(lost("refused", 99_000)), true);
  assert.equal(says({ type: "troubled", why: "no route" }), true);
  assert.equal(says({ type: "up" }), true);
});

test("a loss is a worry after its time, a refusal at once, and what stands is none", () => {
  const patient = limits.lossPatienceMs;
  assert.equal(ailsFrom(after({ type: "up" })), null);
  assert.equal(ailsFrom(after({ type: "up" }, lost("x", 9_000))), 2_000 + patient);
  assert.equal(ailsFrom(after({ type: "up" }, lost("x", 9_000), lost("y", 9_000))), 2_000 + patient);
  assert.equal(ailsFrom(after()), patient);
  assert.equal(ailsFrom(after({ type: "denied", why: "x" })), 1_000);
});

type Gathered = {
  readonly name: string;
  readonly links: readonly Link[];
  readonly later?: true;
  readonly why: RegExp | null;
};
type Link = Health & { readonly platform: string; readonly isFar: boolean };

const far = (platform: string, ...news: readonly HealthNews[]): Link => ({ ...after(...news), platform, isFar: true });
const near = (platform: string, ...news: readonly HealthNews[]): Link => ({ ...far(platform, ...news), isFar: false });
const up = { type: "up" } as const;
const denied = { type: "denied", why: "wrong token" } as const;

/** A few seconds after the beginning, or long after. */
const gathered: readonly Gathered[] = [
  { name: "no platform at all", links: [], why: null },
  { name: "all up", links: [near("web", up), far("x", up)], why: null },
  { name: "a far one connects", links: [near("web", up), far("x")], why: null },
  {
    name: "a far one connects for too long",
    links: [near("web", up), far("x")],
    later: true,
    why: /^x is not connected$/,
  },
  { name: "a far one is lost", links: [near("web", up), far("x", up, lost("reset", 9_000))], why: null },
  {
    name: "a far one is lost for long",
    links: [near("web", up), far("x", up, lost("reset", 9_000))],
    later: true,
    why: /^x is not connected$/,
  },
  {
    name: "a far one is in trouble for long",
    links: [near("web", up), far("x", { type: "troubled", why: "y" })],
    later: true,
    why: /^x is not connected$/,
  },
  { name: "only a far one, which connects", links: [far("x")], why: null },
  {
    name: "only a near one, which does not answer",
    links: [near("web")],
    why: /^no platform is connected$/,
  },
  {
    name: "nobody stands",
    links: [near("web", lost("a", 9_000)), far("x", lost("b", 9_000))],
    why: /^no platform is connected$/,
  },
  {
    name: "one that is denied beside one that stands",
    links: [near("web", up), far("x", denied)],
    why: /^x does not let us in$/,
  },
  {
    name: "the only one is denied",
    links: [far("x", denied)],
    why: /^no platform is connected; x does not let us in$/,
  },
  {
    name: "denied and lost",
    links: [near("web", up), far("x", denied), far("y", lost("reset", 9_000))],
    later: true,
    why: /^y is not connected; x does not let us in$/,
  },
  {
    name: "several, each kind told once",
    links: [near("web", up), ...["a", "b", "c"].map((one) => far(one, denied)), far("y"), far("z")],
    later: true,
    why: /^y and z are not connected; a, b and c do not let us in$/,
  },
];

table("when connections make the gateway unwell", gathered, ({ links, later, why }) => {
  const told = linksTrouble(links, at(later === true ? 3 * limits.lossPatienceMs : 5_000));
  if (why === null) assert.equal(told, null);
  else assert.match(told ?? "nothing", why);
});

test("a refusal is told once for an account, a configuration and a home, and says what to do", () => {
  const home = { platform: "y", account: "b", chat: "1" };
  const notice = (account: string, config: string, to = home) =>
    deniedNotice({ platform: "x", account, why: "The token is wrong" }, config, to);
  const keys = [notice("a", "c1"), notice("b", "c1"), notice("a", "c2"), notice("a", "c1", { ...home, platform: "z" })];
  assert.equal(new Set(keys.map(({ key }) => key)).size, 4);
  assert.equal(notice("a", "c1").key, notice("a", "c1").key);
  assert.equal(notice("a", "c1").text, deniedText({ platform: "x", why: "The token is wrong" }));
  assert.match(notice("a", "c1").text, /^x does not let us in: The token is wrong\. Correct `platforms\.x`/);
});
