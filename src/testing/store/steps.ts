// How the tests of a store begin, and the changes they write. The caller hands over how to open a store; every test opens
// a fresh, empty one.

import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import type { Change } from "../../core/change.ts";
import type { BootId } from "../../core/ids.ts";
import type { OutboxItem } from "../../core/outbox.ts";
import type { Turn } from "../../core/turn.ts";
import type { Archive, Store } from "../../ports/store.ts";
import { aBoot, aMessage, aSession, aTurn, anInbound, at, bootId, sessionId } from "../samples.ts";

export type OpenedStore = {
  readonly store: Store & Archive;
  /** Closes the store and opens what it left behind. */
  readonly reopen: () => Promise<Store & Archive>;
  /** Closes the store that is open now and removes what it left behind. */
  readonly close: () => Promise<void>;
  /** A place where a copy may be written, and how to look into it. */
  readonly copyFile: string;
  readonly openCopy: (file: string) => Promise<{ readonly archive: Archive; readonly close: () => Promise<void> }>;
};
export type OpenStore = () => Promise<OpenedStore>;

/** A store with one live boot, closed when the test ends. */
export async function started(t: TestContext, open: OpenStore): Promise<OpenedStore & { readonly by: BootId }> {
  const opened = await open();
  t.after(() => opened.close());
  const by = bootId("b1");
  assert.equal(await opened.store.openBoot(aBoot("b1")), "opened");
  return { ...opened, by };
}

/** Commits what must go through. */
export async function write(store: Store, changes: readonly Change[], by: BootId = bootId("b1")): Promise<void> {
  assert.equal(await store.commit(changes, by), "committed");
}

export function putSession(name: string, more: Parameters<typeof aSession>[1] = {}): Change {
  return { put: "session", session: aSession(name, more) };
}

export function putTurn(turn: Turn): Change {
  return { put: "turn", turn };
}

export function putItem(item: OutboxItem): Change {
  return { put: "item", item };
}

/** Everything an accepted message writes: inbox, session, transcript and turn. */
export function acceptance(turn: string, session = "s1", key = `key of ${turn}`): readonly Change[] {
  const { address } = aSession(session);
  const input = anInbound(`text of ${turn}`, { key, from: address });
  const made = aTurn(turn, { session: sessionId(session), input });
  return [
    { put: "inbox", platform: address.platform, account: address.account, key, turn: made.id, at: at(0) },
    putSession(session),
    { put: "message", message: aMessage(key, { session: made.session, turn: made.id, text: `text of ${turn}` }) },
    putTurn(made),
  ];
}

/** The names of what was found, for short comparisons. */
export function ids(found: readonly { readonly id: string }[]): readonly string[] {
  return found.map((one) => one.id);
}

export function idOf(found: { readonly id: string } | null): string | null {
  return found?.id ?? null;
}
