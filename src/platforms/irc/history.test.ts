// The history of a server, page by page: everything is asked for, and it is known when everything was told.

import assert from "node:assert/strict";
import { test } from "node:test";
import { isOver, noted, replay, turned } from "./history.ts";
import { parseLine } from "./lines.ts";

const time = (ms: number): string => new Date(1_800_000_000_000 + ms).toISOString();
type Past = Readonly<Record<string, readonly number[]>>;

/** A server that tells at most so many lines at once, and what was asked and told. */
function played(past: Past, limit: number) {
  const asked: string[] = [];
  const told = new Set<string>();
  let page = replay(["#a", "#b"], time(10), time(1_000));
  let { playback } = page;
  for (let pages = 0; !isOver(playback); pages++) {
    assert.ok(pages < 100, "it asks for ever");
    const [question = "", ping] = page.out;
    assert.equal(ping, "PING :history");
    asked.push(question.replaceAll(/timestamp=\S*(\d{3})Z/g, (_, ms: string) => String(Number(ms))));
    const [, verb = "", target = "", since = ""] = question.split(" ");
    const after = (verb === "TARGETS" ? target : since).replace("timestamp=", "");
    const lines =
      verb === "TARGETS"
        ? Object.entries(past)
            .map(([name, all]) => ({ name, at: all.at(-1) ?? 0 }))
            .filter(({ at }) => time(at) > after)
            .map(({ name, at }) => `:s CHATHISTORY TARGETS ${name} ${time(at)}`)
        : (past[target] ?? [])
            .filter((at) => time(at) > after)
            .map((at, n) => `@batch=h;time=${time(at)};msgid=${at}.${n} :x!x@h PRIVMSG ${target} :${target} ${at}`);
    for (const raw of lines.slice(0, limit)) {
      const line = parseLine(raw) ?? assert.fail(raw);
      playback = noted(playback, line);
      if (line.command === "PRIVMSG") told.add(line.params[1] ?? "");
    }
    assert.equal(turned(playback, "another"), null);
    page = turned(playback, "history") ?? assert.fail("it is the history's");
    ({ playback } = page);
  }
  return { asked, told: [...told], latest: playback.latest };
}

test("nothing was said: everything is asked for once", () => {
  const { asked, latest } = played({}, 100);
  assert.deepEqual(asked, ["CHATHISTORY AFTER #a 9 100", "CHATHISTORY AFTER #b 9 100", "CHATHISTORY TARGETS 9 0 50"]);
  assert.equal(latest, time(10));
});

test("more than a page of several places, and of people, is told whole", () => {
  const many = Array.from({ length: 25 }, (_, n) => 11 + n);
  const past: Past = { "#a": many, "#b": [12, 40], ann: [13, 14, 15, 16, 50], bob: [20] };
  const { told, latest } = played(past, 4);
  const all = Object.entries(past).flatMap(([target, at]) => at.map((one) => `${target} ${one}`));
  assert.deepEqual(told.toSorted(), all.toSorted());
  assert.equal(latest, time(50));
});

test("lines of the same time at the end of a page are told too", () => {
  assert.deepEqual(played({ "#a": [11, 12, 12, 13] }, 2).told, ["#a 11", "#a 12", "#a 13"]);
});

test("what is said meanwhile counts for the place in the stream, not for the page", () => {
  const { playback } = replay(["#a"], time(10), time(1_000));
  const live = parseLine(`@time=${time(99)} :x!x@h PRIVMSG #a :now`) ?? assert.fail();
  const heard = noted(playback, live);
  assert.equal(heard.latest, time(99));
  assert.match(turned(heard, "history")?.out[0] ?? "", /^CHATHISTORY TARGETS/);
});
