// /sethome: an admin chooses where the gateway speaks about itself, the choice outlives restarts, and can be taken back.

import assert from "node:assert/strict";
import { test } from "node:test";
import { at, stage } from "../stop/stage.ts";
import { asking, inGroup, seenBy, talk, web } from "./people.ts";

const home = { account: "bot", chat: "configured" };

function withHome() {
  const settings = asking();
  return { ...settings, settings: { ...settings.settings, chat: { ...settings.settings?.["chat"], home } } };
}

const down = "Gateway shutting down. Unfinished work continues at the next start.";

test("the home that an admin chose wins over the configured one, until it is taken back", async (t) => {
  const on = await stage(t);
  const first = await on.start(withHome());
  assert.equal(
    await talk(on, "boss", "/sethome", inGroup(true, { from: at("group", { thread: "7" }) })),
    "This chat is the home of chat now. I tell here when the gateway is stopped or restarted, and when a restart is over; not of a start after a stop or a crash. /sethome off takes it back.",
  );
  await on.stop(first);
  const second = await on.start(withHome());
  await on.pass(1_000);
  assert.deepEqual([seenBy(on, "configured"), seenBy(on, "group").slice(1)], [[], [down]], "and nothing of the start");
  assert.equal(on.servers.get("chat")?.sent.at(-1)?.to.thread, "7");
  assert.equal(await talk(on, "boss", "/sethome off"), "Taken back: chat has the home that is configured.");
  await on.stop(second);
  assert.deepEqual([seenBy(on, "configured"), seenBy(on, "group").length], [[down], 2]);
});

test("a choice at an account that is no longer ours counts for nothing", async (t) => {
  const on = await stage(t);
  const one = await on.start(withHome());
  await talk(on, "boss", "/sethome");
  const [fact] = [await on.store.fact("home:chat")];
  assert.deepEqual(JSON.parse(fact ?? ""), { account: "bot", chat: "with boss" });
  await on.store.commit(
    [{ put: "fact", name: "home:chat", value: '{"account":"sold","chat":"x"}' }],
    "boot-1" as never,
  );
  await on.stop(one);
  assert.deepEqual([seenBy(on, "configured"), seenBy(on, "x")], [[down], []]);
});

test("what else is written behind it changes nothing; where notices are off it is said", async (t) => {
  const on = await stage(t);
  const settings = asking();
  const quiet = { ...settings.settings, web: { ...settings.settings?.["web"], restartNotices: false } };
  await on.start({ ...settings, settings: quiet });
  assert.match(await talk(on, "boss", "/sethome please"), /^Send \/sethome where the home is to be/);
  assert.equal(await on.store.fact("home:chat"), null);
  assert.match(await talk(on, "me", "/sethome", web), /switched off at this platform/);
  assert.equal(await talk(on, "boss", "/sethome OFF"), "Taken back: chat has no home.");
});
