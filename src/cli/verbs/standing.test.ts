// What a start says of platforms behind a network: a line each, with the reason where one does not stand.

import assert from "node:assert/strict";
import { type Standing, standingText } from "./standing.ts";
import { table } from "../../testing/table.ts";

type Row = {
  readonly name: string;
  readonly state: Standing["state"];
  readonly why: string | null;
  readonly text: RegExp;
};

const rows: readonly Row[] = [
  { name: "connected", state: "up", why: null, text: /^x: connected$/ },
  {
    name: "refused",
    state: "denied",
    why: "The token\nis wrong",
    text: /^x: does not let us in: The token is wrong\. Correct `platforms\.x` .*gateway restart`\.$/,
  },
  {
    name: "no answer yet",
    state: "connecting",
    why: "connecting",
    text: /^x: still connecting; `everturn gateway status`/,
  },
  { name: "lost", state: "down", why: "no route.", text: /^x: not connected: no route; it is tried again by itself$/ },
  { name: "in trouble", state: "troubled", why: "another", text: /^x: not connected: another; it goes on by itself/ },
];

table("what is said of a platform when a gateway has started", rows, ({ state, why, text }) => {
  assert.match(standingText({ platform: "x", account: "a", state, why }), text);
});
