// Who is logged in where lines do not say so: asked for, remembered as long as it is sure, and nothing changes its order.

import assert from "node:assert/strict";
import { test } from "node:test";
import { table } from "../../testing/table.ts";
import { type Line, parseLine } from "./lines.ts";
import { type People, answered, heard, nobody, observe, passed } from "./people.ts";

const line = (raw: string): Line => parseLine(raw) ?? assert.fail(raw);
const says = (nick: string, text: string): string => `:${nick}!~u@host PRIVMSG #talk :${text}`;

/** What is asked and what is handed over while the server says this; "pong x" is the end of its answer about x. */
function follow(lines: readonly string[]): { readonly out: readonly string[]; readonly handed: readonly string[] } {
  let people: People = nobody;
  const out: string[] = [];
  const handed: string[] = [];
  for (const raw of lines) {
    const asked = /^pong (.*)$/.exec(raw)?.[1];
    const next =
      asked !== undefined
        ? answered(people, asked)
        : raw.includes("PRIVMSG")
          ? heard(people, line(raw))
          : { people: observe(people, line(raw), "ever"), out: [], lines: [] };
    assert.ok(next !== null);
    people = next.people;
    out.push(...next.out.filter((word) => word.startsWith("WHOIS")));
    handed.push(...next.lines.map(({ params, tags }) => `${params[1]} ${tags["account"] ?? "-"}`));
  }
  return { out, handed };
}

test("on a server that compares letters only, marks are no letters: who is logged in is not somebody else", () => {
  const joins = ":ann{x}!a@home JOIN #talk ann :Ann";
  const speaks = says("ann[x]", "/restart");
  assert.deepEqual(follow([joins, speaks]), { out: [], handed: ["/restart ann"] });
  const ascii = ":s 005 ever CHANTYPES=# CASEMAPPING=ascii :are supported by this server";
  assert.deepEqual(follow([ascii, joins, speaks, "pong ann[x]"]), { out: ["WHOIS ann[x]"], handed: ["/restart -"] });
  const other = ascii.replace("=ascii", "=rfc7613");
  assert.deepEqual(follow([other, joins, speaks, "pong ann[x]"]).handed, ["/restart -"]);
  const strict = ascii.replace("=ascii", "=strict-rfc1459");
  assert.deepEqual(follow([strict, joins, speaks]).handed, ["/restart ann"]);
});

const ann = ["WHOIS ann"];
const login = ":s 330 ever ann Ann :is logged in as";

table(
  "who is asked for, and what is handed over",
  [
    {
      name: "logged in, somewhere else: asked each time",
      lines: [says("ann", "1"), login, "pong ann", says("ann", "2"), "pong ann"],
      gives: { out: [...ann, ...ann], handed: ["1 Ann", "2 -"] },
    },
    {
      name: "in a channel with us: asked once",
      lines: [":s 353 ever = #talk :@ann ever", says("ann", "1"), login, "pong ann", says("ann", "2")],
      gives: { out: ann, handed: ["1 Ann", "2 Ann"] },
    },
    {
      name: "not logged in is remembered too",
      lines: [":ann!~u@host JOIN #talk", says("ann", "1"), "pong ann", says("ann", "2")],
      gives: { out: ann, handed: ["1 -", "2 -"] },
    },
    {
      name: "told as they came in",
      lines: [":ann!~u@host JOIN #talk Ann :her name", says("ann", "1")],
      gives: { out: [], handed: ["1 Ann"] },
    },
    {
      name: "told as they log in and out",
      lines: [
        ":ann!~u@host JOIN #talk * :her name",
        ":ann!~u@host ACCOUNT Ann",
        says("ann", "1"),
        ":ann!~u@host ACCOUNT *",
        says("ann", "2"),
      ],
      gives: { out: [], handed: ["1 Ann", "2 -"] },
    },
    {
      name: "another name is the same person",
      lines: [":ann!~u@host JOIN #talk Ann :her name", ":ann!~u@host NICK :anna", says("anna", "1"), says("ann", "2")],
      gives: { out: ann, handed: ["1 Ann"] },
    },
    ...["QUIT :bye", "PART #talk"].map((how) => ({
      name: `after ${how} it may be somebody else`,
      lines: [":ann!~u@host JOIN #talk Ann :her name", `:ann!~u@host ${how}`, says("ann", "1"), "pong ann"],
      gives: { out: ann, handed: ["1 -"] },
    })),
    {
      name: "once we are put out, we see nobody go",
      lines: [":ann!~u@host JOIN #talk Ann :her name", ":op!a@b KICK #talk ever", says("ann", "1"), "pong ann"],
      gives: { out: ann, handed: ["1 -"] },
    },
    {
      name: "whoever has the nick now is somebody else",
      lines: [says("ann", "1"), ":s 311 ever ann ~u elsewhere * :her name", login, "pong ann"],
      gives: { out: ann, handed: ["1 -"] },
    },
    {
      name: "and the same when the host is",
      lines: [says("ann", "1"), ":s 311 ever ann ~u host * :her name", login, "pong ann"],
      gives: { out: ann, handed: ["1 Ann"] },
    },
    {
      name: "who comes behind a question waits for it",
      lines: [
        ":bob!~u@host JOIN #talk Bob :his name",
        says("ann", "1"),
        says("bob", "2"),
        says("ann", "3"),
        login,
        "pong ann",
      ],
      gives: { out: ann, handed: ["1 Ann", "2 Bob", "3 Ann"] },
    },
    {
      name: "two questions at once",
      lines: [says("ann", "1"), says("bob", "2"), "pong bob", login, "pong ann"],
      gives: { out: ["WHOIS ann", "WHOIS bob"], handed: ["1 Ann", "2 -"] },
    },
    { name: "a server is no person", lines: [":irc.example PRIVMSG ever :x"], gives: { out: [], handed: ["x -"] } },
  ],
  ({ lines, gives }) => assert.deepEqual(follow(lines), gives),
);

test("a server that answers no question holds nothing up for ever", () => {
  const { handed } = follow(Array.from({ length: 201 }, (_, n) => says("ann", `${n}`)));
  assert.deepEqual(
    handed,
    Array.from({ length: 201 }, (_, n) => `${n} -`),
  );
});

test("a server that does not answer the question answers the ping behind it, which is of that question alone", () => {
  const first = heard(nobody, line(says("ann", "1")));
  assert.deepEqual(first.out, ["WHOIS ann", "PING :who 1"]);
  const second = heard(answered(first.people, "ANN").people, line(says("ann", "2")));
  assert.deepEqual(
    [passed(second.people, "who 1")?.lines.length, passed(second.people, "who 2")?.lines.length],
    [0, 1],
  );
  assert.equal(passed(nobody, "joined"), null);
});
