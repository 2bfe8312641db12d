// What "always" would allow is said by each tool in words that are as wide as its rule.

import assert from "node:assert/strict";
import { test } from "node:test";
import { aRoom, aVet } from "../../../test/fakes/room.ts";
import { type PathCall, vetPath } from "./room.ts";

const says: Readonly<Record<PathCall["tool"], string>> = {
  read_file: "reading /opt/f, whatever it holds",
  search_files: "any search in /opt/f",
  send_file: "sending /opt/f to the chat, whatever it holds",
  write_file: "writing any content to /opt/f",
  edit_file: "any edit of /opt/f",
};

for (const [tool, subject] of Object.entries(says) as [PathCall["tool"], string][]) {
  test(`${tool}: ${subject}`, async (t) => {
    const room = { ...aRoom(t), approvals: "always" } as const;
    const of = (input: unknown, text: string) =>
      vetPath(room, { tool, effect: "once", use: "write", path: "/opt/f", input, text }, aVet());
    const [one, other] = [await of({ a: 1 }, "x"), await of({ a: 2 }, "y")];
    assert.ok(one.type === "approve" && other.type === "approve");
    assert.deepEqual([one.subject, other.subject], [subject, subject]);
    assert.notEqual(one.bound, other.bound);
  });
}
