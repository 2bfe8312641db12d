// How long a supervisor waits, and what a service is called.

import assert from "node:assert/strict";
import { test } from "node:test";
import { table } from "../testing/table.ts";
import { nameOf, refuseControlCharacters, stopSeconds } from "./kinds.ts";

table(
  "a supervisor waits max(60, drain) + 30 seconds",
  [
    { name: "no drain", drain: 0, seconds: 90 },
    { name: "a short one", drain: 45, seconds: 90 },
    { name: "exactly a minute", drain: 60, seconds: 90 },
    { name: "longer than a minute", drain: 61, seconds: 91 },
    { name: "part of a second", drain: 60.2, seconds: 91 },
    { name: "an hour", drain: 3_600, seconds: 3_630 },
  ],
  ({ drain, seconds }) => assert.equal(stopSeconds(drain), seconds),
);

table(
  "the name of a service",
  [
    { name: "the usual home", home: "/home/ann/.everturn", usual: "/home/ann/.everturn", is: /^everturn$/ },
    { name: "another one", home: "/srv/My Bot", usual: "/home/ann/.everturn", is: /^everturn-my-bot-[0-9a-f]{8}$/ },
    { name: "no usual one", home: "/home/ann/.everturn", usual: null, is: /^everturn-ann-[0-9a-f]{8}$/ },
    { name: "no letters at all", home: "/srv/…", usual: null, is: /^everturn-[0-9a-f]{8}$/ },
    { name: "a long one", home: `/srv/${"a-".repeat(40)}`, usual: null, is: /^everturn-[a-]{1,24}-[0-9a-f]{8}$/ },
  ],
  ({ home, usual, is }) => assert.match(nameOf(home, usual), is),
);

test("homes that look alike have names of their own, and the same home always the same one", () => {
  assert.notEqual(nameOf("/a/bot", null), nameOf("/b/bot", null));
  assert.equal(nameOf("/a/bot", null), nameOf("/a/bot", "/c"));
});

test("a line break in a path is refused before it could become a setting of its own", () => {
  const place = {
    home: "/h",
    name: "everturn",
    node: "/node",
    main: "/m",
    passOn: {},
    user: { name: "ann", uid: 1, home: "/" },
  };
  assert.doesNotThrow(() => refuseControlCharacters(place));
  assert.throws(() => refuseControlCharacters({ ...place, home: "/h\nExecStart=/bin/false" }), /control character/);
  assert.throws(() => refuseControlCharacters({ ...place, passOn: { NODE_OPTIONS: "\u0007" } }), /control character/);
});
