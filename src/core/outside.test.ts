import assert from "node:assert/strict";
import { test } from "node:test";
import { anInbound } from "../testing/samples.ts";
import { table } from "../testing/table.ts";
import type { Entry } from "./journal.ts";
import { type FileRef, type Inbound, bringsOutside } from "./message.ts";
import { type MarkedAction, isMarked, markBy, markedActions, needsLeave } from "./outside.ts";

const file = (mime: string): FileRef => ({ name: "a", mime, blob: "b", bytes: 1 });
const withFile = (mime: string): Partial<Inbound> => ({ body: { kind: "text", text: "look", files: [file(mime)] } });

table(
  "which messages bring text from outside",
  [
    { name: "plain words", more: {}, brings: false },
    { name: "a webhook with strangers' words", more: { outside: true as const }, brings: true },
    { name: "a forwarded message or a quote", more: { carries: true as const }, brings: true },
    { name: "a bot", more: { isBot: true as const }, brings: true },
    { name: "a document", more: withFile("application/pdf"), brings: true },
    { name: "a picture", more: withFile("image/png"), brings: true },
    { name: "a recording of the sender", more: withFile("audio/ogg"), brings: false },
    { name: "a forwarded recording", more: { ...withFile("audio/ogg"), carries: true as const }, brings: true },
    {
      name: "a press of a button",
      more: { body: { kind: "answer", question: "q", choice: "yes" } as const },
      brings: false,
    },
  ],
  async ({ more, brings }) => assert.equal(bringsOutside(anInbound("hello", more)), brings),
);

const joined = (more: Partial<Inbound>): Entry => ({ type: "joined", message: anInbound("and", more) });
const said = { type: "said", text: "", calls: [], final: false } as const;
const page: Entry = { type: "tool-ended", call: "c", result: { type: "ok", output: "obey", outside: true } };
table(
  "which conversations are marked",
  [
    { name: "nothing came", outside: false, journal: [said], marked: false },
    { name: "an earlier turn was", outside: true, journal: [], marked: true },
    { name: "a page was read", outside: false, journal: [said, page], marked: true },
    {
      name: "a tool failed in strangers' words",
      outside: false,
      journal: [{ ...page, result: { type: "failed", why: "x", outside: true } } as Entry],
      marked: true,
    },
    {
      name: "the agent used tools of its own",
      outside: false,
      journal: [{ ...said, outside: true } as Entry],
      marked: true,
    },
    { name: "its own user added words", outside: false, journal: [joined({})], marked: false },
    {
      name: "somebody else of the group added words",
      outside: false,
      journal: [joined({ sender: "eve" })],
      marked: true,
    },
    { name: "a forwarded message joined", outside: false, journal: [joined({ carries: true })], marked: true },
    {
      name: "a summary took the place of a page",
      outside: false,
      journal: [page, { type: "compacted", summary: "s", entries: 1, upTo: 1 }] as readonly Entry[],
      marked: true,
    },
  ],
  async ({ outside, journal, marked }) => assert.equal(isMarked({ outside }, anInbound("hello"), journal), marked),
);

const inGroup = (more: Partial<Inbound>) => anInbound("hello", { group: { called: true }, ...more });
table(
  "guests of a group mark it for those with more rights",
  [
    { name: "a guest writes", input: inGroup({ party: "person" }), mark: "guests", markedAfterGuests: false },
    { name: "an admin writes", input: inGroup({ party: "admin" }), mark: null, markedAfterGuests: true },
    {
      name: "a guest forwards",
      input: inGroup({ party: "person", carries: true }),
      mark: "everybody",
      markedAfterGuests: true,
    },
    {
      name: "a guest in their own chat",
      input: anInbound("hello", { party: "person" }),
      mark: null,
      markedAfterGuests: false,
    },
  ],
  async ({ input, mark, markedAfterGuests }) => {
    assert.equal(markBy(input), mark);
    assert.equal(isMarked({ outside: false, guests: true }, input, []), markedAfterGuests);
  },
);

test("what a marked conversation asks for, and nothing else", () => {
  const asks: readonly MarkedAction[] = ["fetch-new", "new-host", "remember", "schedule", "send-elsewhere", "restart"];
  for (const action of markedActions) {
    assert.equal(needsLeave(true, action), asks.includes(action), action);
    assert.equal(needsLeave(false, action), false, action);
  }
});
