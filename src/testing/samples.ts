// Plain rows for tests: each function gives a whole, valid value and takes only what the test is about.

import { noGrant } from "../core/grant.ts";
import type { BootId, Instant, ItemId, SessionId, TurnId } from "../core/ids.ts";
import type { Address, Inbound, NewMessage } from "../core/message.ts";
import type { OutboxItem } from "../core/outbox.ts";
import type { Requester } from "../core/requester.ts";
import type { Boot } from "../core/recovery.ts";
import { type Session, newSession } from "../core/session.ts";
import { type Turn, newTurn } from "../core/turn.ts";
import type { ToolContext } from "../ports/tool.ts";

/** A moment `ms` after the beginning of all samples. */
export function at(ms: number): Instant {
  return (1_800_000_000_000 + ms) as Instant;
}

export function bootId(name: string): BootId {
  return name as BootId;
}

export function sessionId(name: string): SessionId {
  return name as SessionId;
}

export function turnId(name: string): TurnId {
  return name as TurnId;
}

export function itemId(name: string): ItemId {
  return name as ItemId;
}

export function anAddress(chat = "c1", more: Partial<Address> = {}): Address {
  return { platform: "test", account: "home", chat, ...more };
}

export function anInbound(text = "hello", more: Partial<Inbound> = {}): Inbound {
  const body = { kind: "text", text, files: [] } as const;
  return { key: `key of ${text}`, from: anAddress(), sender: "u1", body, sentAt: at(0), ...more };
}

export function aSession(name = "s1", more: Partial<Session> = {}): Session {
  return { ...newSession(sessionId(name), anAddress(`chat of ${name}`), bootId("b1"), at(0)), ...more };
}

export function aTurn(name = "t1", more: Partial<Turn> = {}): Turn {
  return { ...newTurn(turnId(name), sessionId("s1"), anInbound(`text of ${name}`), at(0)), ...more };
}

export function anItem(name = "i1", more: Partial<OutboxItem> = {}): OutboxItem {
  return {
    id: itemId(name),
    session: sessionId("s1"),
    turn: null,
    part: 0,
    to: anAddress("chat of s1"),
    text: `text of ${name}`,
    files: [],
    createdAt: at(0),
    version: 1,
    now: { state: "pending", dueAt: at(0), attempts: 0 },
    ...more,
  };
}

export function aMessage(key: string, more: Partial<NewMessage> = {}): NewMessage {
  return { key, session: sessionId("s1"), turn: null, role: "user", text: `text of ${key}`, at: at(0), ...more };
}

export const anOwner: Requester = { party: "owner", person: "owner" };

export function aToolContext(key = "t1:0:c1", more: Partial<ToolContext> = {}): ToolContext {
  return {
    session: sessionId("s1"),
    turn: turnId("t1"),
    address: anAddress(),
    key,
    requester: anOwner,
    grant: noGrant,
    outside: false,
    fence: 1,
    signal: new AbortController().signal,
    now: () => at(0),
    tell: () => undefined,
    ...more,
  };
}

export function aBoot(name = "b1", more: Partial<Boot> = {}): Boot {
  return {
    id: bootId(name),
    pid: 4711,
    host: "machine-room",
    machine: "machine-1",
    version: "0.0.0",
    config: "config-1",
    startedAt: at(0),
    beatAt: at(0),
    readyAt: null,
    stop: null,
    story: {},
    ...more,
  };
}
