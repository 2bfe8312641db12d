// What can be set for every platform that other people can reach: who may speak, where the owner is, how it behaves.

import * as v from "valibot";
import type { BusyPolicy } from "../../core/lane.ts";
import type { InDoubtPolicy } from "../../core/outbox.ts";
import { flag, group, oneOf, text } from "../kinds.ts";

const busyPolicies = ["queue", "interrupt", "steer"] as const satisfies readonly BusyPolicy[];
const inDoubtPolicies = ["resend", "hold"] as const satisfies readonly InDoubtPolicy[];

export const orOff = <const E extends v.ObjectEntries>(entries: E) =>
  v.union([v.literal(false), group(entries)], "must be a group of settings, or false to switch it off");

export const busy = v.optional(oneOf(...busyPolicies), "queue");

const id = (what: string) =>
  v.pipe(
    v.union([text, v.number(), v.bigint()], what),
    v.transform((given) => String(given)),
  );
const userId = id("must be a user id or a name");
export const people = v.array(userId, "must be a list of user ids or names");
const groups = oneOf("mention", "all", "off");

/** Rules for one chat, instead of those of the platform. */
const chatRules = group({ allow: v.exactOptional(people), groups: v.exactOptional(groups) });

/** Settings of everything that has senders. */
export const everyPlatform = {
  allow: v.exactOptional(people),
  admins: v.optional(people, []),
  groups: v.optional(groups, "mention"),
  chats: v.optional(v.record(text, chatRules, "must be a group of chats by their ids"), {}),
  pairing: v.optional(flag, true),
  home: v.exactOptional(group({ chat: id("must be the id of a chat"), thread: v.exactOptional(id("must be an id")) })),
  busy,
  restartNotices: v.optional(flag, true),
} as const;

/** Who may approve beside the owner and the admins, where the platform knows its senders. */
export const approvers = v.exactOptional(
  v.pipe(
    people,
    v.check((names) => !names.includes("*"), "must name people: everybody cannot approve"),
  ),
);

/** Where the platform takes no key. */
export const inDoubt = v.optional(oneOf(...inDoubtPolicies), "resend");
/** Previews of a growing answer, by edits; the last edit is the answer. */
/** `always` places a message before anything is answered, so that every answer arrives exactly once. */
export const streaming = v.optional(v.union([flag, v.literal("always")], "must be true, false or always"), true);
