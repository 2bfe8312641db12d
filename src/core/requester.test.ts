import assert from "node:assert/strict";
import { test } from "node:test";
import type { Instant } from "./ids.ts";
import type { Entry } from "./journal.ts";
import type { Inbound } from "./message.ts";
import { type Party, lowestParty, partyOf, requesterOf } from "./requester.ts";

function said(party: Party | undefined, more: Partial<Inbound> = {}): Inbound {
  return {
    key: "k",
    from: { platform: "telegram", account: "bot", chat: "-5" },
    sender: "7",
    body: { kind: "text", text: "hi", files: [] },
    sentAt: 0 as Instant,
    ...(party === undefined ? {} : { party }),
    ...more,
  };
}
const joins = (...parties: (Party | undefined)[]): readonly Entry[] =>
  parties.map((party) => ({ type: "joined", message: said(party) }));

test("the rights of a turn are the least of everybody who wrote in it", () => {
  const cases: readonly [Party | undefined, readonly (Party | undefined)[], Party][] = [
    ["owner", [], "owner"],
    ["admin", [], "admin"],
    ["person", [], "person"],
    ["admin", ["person"], "person"],
    ["admin", ["admin"], "admin"],
    ["owner", ["admin"], "admin"],
    ["admin", ["owner"], "admin"],
    ["person", ["owner"], "person"],
    ["admin", ["admin", "person", "admin"], "person"],
    // A message that an earlier version stored.
    ["admin", [undefined], "person"],
    [undefined, [], "person"],
  ];
  for (const [input, joined, expected] of cases)
    assert.equal(requesterOf(said(input), joins(...joined)).party, expected, JSON.stringify([input, joined]));
});

test("only our own clients are the owner's where nothing is stored", () => {
  const at = (platform: string) => said(undefined, { from: { platform, account: "a", chat: "c" } });
  const cases = { web: "owner", terminal: "owner", api: "person", hooks: "person", email: "person" } as const;
  for (const [platform, party] of Object.entries(cases)) assert.equal(partyOf(at(platform)), party, platform);
  // What the intake decided counts more than the platform.
  assert.equal(partyOf({ ...at("web"), party: "person" }), "person");
});

test("owner and admins share a workspace; a chat and a group have their own, also when a reminder speaks there", () => {
  const group = { called: true };
  const timer = { body: { kind: "timer", timer: "t", text: "tea" }, sender: "timer" } as const;
  const by = (party: Party) => ({ ...timer, maker: { party, sender: "9" } });
  const cases: readonly [Inbound, readonly Entry[], string][] = [
    [said("owner"), [], "owner"],
    [said("admin"), [], "owner"],
    [said("person"), [], "telegram/bot/-5"],
    [said("person", { group }), [], "telegram/bot/-5"],
    [said("admin", { group }), [], "telegram/bot/-5"],
    [said("person", by("person")), [], "telegram/bot/-5"],
    [said("admin", by("admin")), [], "owner"],
    [said("admin", { ...by("admin"), group }), [], "telegram/bot/-5"],
    [said(undefined, timer), [], "telegram/bot/-5"],
    // Someone who joined with fewer rights does not get into the owner's workspace.
    [said("admin"), joins("person"), "telegram/bot/-5"],
    [said("admin", by("admin")), joins("person"), "telegram/bot/-5"],
  ];
  for (const [input, journal, person] of cases) assert.equal(requesterOf(input, journal).person, person);
  assert.equal(lowestParty([]), "person");
});
