import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import type { APIInteraction } from "discord-api-types/v10";
import { areSame, buttonsFor, receiptOf, slashCommands, toPressedOrCalled } from "./interactions.ts";
import type { Channel } from "./stream/places.ts";

const account = "900000000000000001";

function sample(name: string, more: object = {}): APIInteraction {
  const text = readFileSync(join(import.meta.dirname, "samples", `${name}.json`), "utf8");
  return { ...(JSON.parse(text) as APIInteraction), ...more } as APIInteraction;
}

const channel: Channel = { id: "600000000000000001", name: "general", guild: "5", parent: null, newest: null };

describe("what comes back", () => {
  test("a slash command, with its words", () => {
    assert.deepEqual(toPressedOrCalled(sample("slash"), { account, channel }), {
      key: "1310000000000000020",
      from: { platform: "discord", account, chat: "600000000000000001" },
      sender: "100000000000000001",
      body: { kind: "command", name: "approve", rest: "always" },
      sentAt: 1732398738623,
      name: "ann",
      group: { called: true, title: "#general" },
    });
  });

  test("a button, in its own words", () => {
    const pressed = toPressedOrCalled(sample("button"), { account, channel: null });
    assert.deepEqual(pressed?.body, { kind: "answer", question: "t1:3", choice: "Coffee, black" });
    assert.deepEqual(
      [pressed?.from.chat, pressed?.sender, pressed?.group],
      ["700000000000000001", "100000000000000001", undefined],
    );
  });

  const others: readonly (readonly [what: string, name: string, more: object])[] = [
    ["a button of somebody else", "button", { data: { component_type: 2, custom_id: "vote:1" } }],
    ["a button that is not there", "button", { data: { component_type: 2, custom_id: "q:9:t1:3" } }],
    ["a menu of a message", "slash", { data: { id: "1", type: 3, name: "x" } }],
    ["something being typed", "slash", { type: 4 }],
    ["nobody", "button", { user: undefined }],
  ];
  for (const [what, name, more] of others) {
    test(`${what} is nothing to us`, () => {
      assert.equal(toPressedOrCalled(sample(name, more), { account, channel: null }), null);
    });
  }
});

describe("buttons", () => {
  test("five in a row", () => {
    const rows = buttonsFor({ id: "t1:3", choices: ["a", "b", "c", "d", "e", "f"] }) ?? [];
    assert.deepEqual(
      rows.map((row) => row.components.map((one) => one.label)),
      [["a", "b", "c", "d", "e"], ["f"]],
    );
    assert.equal(rows[1]?.components[0]?.custom_id, "q:5:t1:3");
  });

  const unfit: readonly (readonly [what: string, id: string, choices: readonly string[]])[] = [
    ["no choices", "q", []],
    ["too many", "q", Array.from({ length: 26 }, (_, n) => `${n}`)],
    ["too long a choice", "q", ["x".repeat(81)]],
    ["an empty choice", "q", ["a", " "]],
    ["too long an id", "q".repeat(100), ["a"]],
  ];
  for (const [what, id, choices] of unfit) {
    test(`none for ${what}`, () => assert.equal(buttonsFor({ id, choices }), null));
  }

  test("the longest that fit", () => {
    const choices = Array.from({ length: 25 }, (_, n) => `${n}`.padEnd(80, "x"));
    const rows = buttonsFor({ id: "q".repeat(95), choices }) ?? [];
    const ids = rows.flatMap((row) => row.components.map((one) => one.custom_id));
    assert.equal(ids.length, 25);
    assert.ok(ids.every((id) => id.length <= 100));
  });
});

test("a press is answered by the choice, shown and closed; one that was not heard changes nothing", () => {
  assert.deepEqual(receiptOf(sample("button"), true), {
    type: 7,
    data: {
      components: [
        {
          type: 1,
          components: [
            { type: 2, style: 2, label: "Tea", custom_id: "q:0:t1:3", disabled: true },
            { type: 2, style: 3, label: "Coffee, black", custom_id: "q:1:t1:3", disabled: true },
          ],
        },
      ],
    },
  });
  assert.deepEqual(receiptOf(sample("button"), false), { type: 6 });
  assert.deepEqual(receiptOf(sample("slash"), true), { type: 4, data: { content: "On it.", flags: 64 } });
});

test("commands are what Discord takes, and registered again only when they differ", () => {
  const wanted = slashCommands();
  assert.ok(wanted.length > 5);
  for (const { name, description } of wanted) {
    assert.match(name, /^[-_a-z0-9]{1,32}$/);
    assert.ok(description.length >= 1 && description.length <= 100, name);
  }
  const registered = wanted.toReversed().map((one) => ({ ...one, id: "1", version: "2", type: 1, nsfw: false }));
  assert.equal(areSame(registered, wanted), true);
  assert.equal(areSame(registered.slice(1), wanted), false);
  assert.equal(
    areSame(
      registered.map((one) => ({ ...one, description: "else" })),
      wanted,
    ),
    false,
  );
  assert.equal(areSame([], wanted), false);
});
