import assert from "node:assert/strict";
import { test } from "node:test";
import { type Address, formatAddress } from "../../core/message.ts";
import type { Job, JobState, Jobs } from "../../ports/jobs.ts";
import { background } from "./background.ts";

const here: Address = { platform: "chat", account: "bot", chat: "a" };
const there: Address = { ...here, chat: "b" };
const ended: JobState = {
  type: "ended",
  end: { code: 0, signal: null, how: "killed", why: null, tookMs: 1, bytes: 0, lost: null },
};

function jobsOf(...list: readonly (Partial<Job> & { readonly id: string; readonly state?: JobState })[]) {
  const killed: string[] = [];
  const states = new Map(list.map(({ id, state }) => [id, state ?? { type: "running" as const }]));
  const all = list.map((job): Job => {
    const place = formatAddress(here);
    return { place, title: job.id, background: true, startedAt: 0, limitMs: 1e9, folder: "x", ...job };
  });
  const never = async () => assert.fail("nobody asked for it");
  const jobs: Jobs = {
    start: never,
    find: never,
    get: never,
    wait: never,
    read: never,
    endAll: never,
    drop: never,
    tidy: never,
    list: async (fits) => all.filter(fits),
    state: async (id) => states.get(id) ?? { type: "unknown", why: "gone" },
    async kill(id) {
      killed.push(id);
      if (id !== "stubborn") states.set(id, ended);
      return states.get(id) ?? ended;
    },
  };
  return { killed, ...background(jobs, () => 312_000) };
}

const all = [
  { id: "make" },
  { id: "stubborn" },
  { id: "over", state: ended },
  { id: "lost", state: { type: "unknown", why: "killed" } },
  { id: "part of a turn", background: false },
  { id: "other", place: formatAddress(there) },
] as const;

test("what runs in the background of a place, and nothing else", async () => {
  const { activity } = jobsOf(...all);
  assert.deepEqual(await activity(here), ["make (for 5 min)", "stubborn (for 5 min)"]);
  assert.deepEqual(await activity(there), ["other (for 5 min)"]);
});

test("it is ended, and told is what did end", async () => {
  const { activity, stopActivity, killed } = jobsOf(...all);
  assert.deepEqual(await stopActivity(here), ["make"]);
  assert.deepEqual(killed, ["make", "stubborn"]);
  assert.deepEqual(await activity(here), ["stubborn (for 5 min)"]);
});

test("a line is short and hides nothing", async () => {
  const { activity } = jobsOf({ id: "a", title: `echo \u202e${"x".repeat(200)}\n\nrm y` });
  const [line = ""] = await activity(here);
  assert.match(line, /^echo \\u\{202e\}x+… \(for 5 min\)$/);
  assert.ok(line.length < 100, line);
});
