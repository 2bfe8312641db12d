// Rows to types: the only casts of this store. What is in a column was put there by statements.ts.

import type { BootId, Instant, ItemId, SessionId, TurnId } from "../../core/ids.ts";
import type { AccessLink, Device } from "../../core/access/devices.ts";
import type { Paired, Pairing } from "../../core/access/pairing.ts";
import type { Rule } from "../../core/approval.ts";
import type { Entry } from "../../core/journal.ts";
import type { Memory } from "../../core/memory.ts";
import type { Address, FileRef, Message, Question } from "../../core/message.ts";
import type { ItemState, OutboxItem } from "../../core/outbox.ts";
import type { Boot, BootStory, StopFacts } from "../../core/recovery.ts";
import type { Maker } from "../../core/requester.ts";
import { readResume } from "../../core/resume.ts";
import type { Session } from "../../core/session.ts";
import type { Timer } from "../../core/timer.ts";
import type { Turn, TurnState } from "../../core/turn.ts";
import type { Spent } from "../../core/usage.ts";

export type Raw = Readonly<Record<string, unknown>>;

export function toSession(raw: Raw): Session {
  return {
    id: raw["id"] as SessionId,
    key: raw["key"] as string,
    address: parse<Address>(raw["address"]),
    owner: raw["owner"] as BootId | null,
    fence: raw["fence"] as number,
    createdAt: raw["created_at"] as Instant,
    activeAt: raw["active_at"] as Instant,
    endedAt: raw["ended_at"] === 0 ? null : (raw["ended_at"] as Instant),
    standing: raw["standing"] as Session["standing"],
    resume: readResume(raw["resume"] as string | null),
    reset: raw["reset"] as Session["reset"],
    model: raw["model"] as string | null,
    outside: raw["outside"] === 1,
    ...(raw["outside"] === 2 ? { guests: true } : {}),
  };
}

export function toTurn(raw: Raw): Turn {
  return {
    id: raw["id"] as TurnId,
    session: raw["session"] as SessionId,
    input: parse<Turn["input"]>(raw["input"]),
    acceptedAt: raw["accepted_at"] as Instant,
    attempt: raw["attempt"] as number,
    version: raw["version"] as number,
    now: parse<TurnState>(raw["now"]),
  };
}

export function toEntry(raw: Raw): Entry {
  return parse<Entry>(raw["entry"]);
}

export function toAddress(raw: Raw): Address {
  return parse<Address>(raw["address"]);
}

export function toItem(raw: Raw): OutboxItem {
  const body = parse<Pick<OutboxItem, "to" | "text" | "files" | "question" | "hints" | "edits">>(raw["body"]);
  return {
    ...body,
    id: raw["id"] as ItemId,
    session: raw["session"] as SessionId,
    turn: raw["turn"] as TurnId | null,
    part: raw["part"] as number,
    createdAt: raw["created_at"] as Instant,
    version: raw["version"] as number,
    now: parse<ItemState>(raw["now"]),
  };
}

export function toMessage(raw: Raw): Message {
  const question = raw["question"] === null ? {} : { question: parse<Question>(raw["question"]) };
  const files = raw["files"] === null ? {} : { files: parse<readonly FileRef[]>(raw["files"]) };
  return {
    n: raw["n"] as number,
    key: raw["key"] as string,
    session: raw["session"] as SessionId,
    turn: raw["turn"] as TurnId | null,
    role: raw["role"] as Message["role"],
    text: raw["text"] as string,
    ...question,
    ...files,
    ...(raw["outside"] === 1 ? { outside: true } : raw["outside"] === 2 ? { carries: true } : {}),
    at: raw["at"] as Instant,
  };
}

export function toTimer(raw: Raw): Timer {
  return {
    id: raw["id"] as string,
    session: raw["session"] as SessionId,
    turn: raw["turn"] as TurnId | null,
    dueAt: raw["due_at"] as Instant,
    text: raw["text"] as string,
    ...(raw["maker"] === null ? {} : { maker: parse<Maker>(raw["maker"]) }),
  };
}

export function toBoot(raw: Raw): Boot {
  return {
    config: "",
    ...parse<Pick<Boot, "pid" | "host" | "machine" | "version">>(raw["facts"]),
    id: raw["id"] as BootId,
    startedAt: raw["started_at"] as Instant,
    beatAt: raw["beat_at"] as Instant,
    readyAt: raw["ready_at"] as Instant | null,
    stop: raw["stop"] === null ? null : parse<StopFacts>(raw["stop"]),
    story: parse<BootStory>(raw["story"]),
  };
}

export function toRule(raw: Raw): Rule {
  return {
    id: raw["id"] as string,
    tool: raw["tool"] as string,
    subject: raw["subject"] as string,
    by: raw["by"] as string,
    at: raw["at"] as Instant,
    scope: raw["scope"] as string,
    ...(raw["held"] === 1 ? { held: true } : {}),
  };
}

export function toPairing(raw: Raw): Pairing {
  return {
    id: raw["id"] as string,
    sender: raw["sender"] as string,
    name: raw["name"] as string | null,
    address: parse<Address>(raw["address"]),
    digest: raw["digest"] as string,
    askedAt: raw["asked_at"] as Instant,
    expiresAt: raw["expires_at"] as Instant,
    toldAt: raw["told_at"] as Instant,
    denied: raw["denied"] === 1,
  };
}

export function toPaired(raw: Raw): Paired {
  return {
    platform: raw["platform"] as string,
    account: raw["account"] as string,
    sender: raw["sender"] as string,
    name: raw["name"] as string | null,
    admin: raw["admin"] === 1,
    by: raw["by"] as string,
    at: raw["at"] as Instant,
  };
}

export function toDevice(raw: Raw): Device {
  return {
    id: raw["id"] as string,
    digest: raw["digest"] as string,
    name: raw["name"] as string,
    createdAt: raw["created_at"] as Instant,
    seenAt: raw["seen_at"] as Instant,
  };
}

export function toLink(raw: Raw): AccessLink {
  return { digest: raw["digest"] as string, expiresAt: raw["expires_at"] as Instant };
}

export function toMemory(raw: Raw): Memory {
  return {
    id: raw["id"] as string,
    scope: raw["scope"] as string,
    text: raw["text"] as string,
    at: raw["at"] as Instant,
  };
}

/** Sums over no rows at all are null. */
export function toSpent(raw: Raw): Spent {
  const of = (name: string) => Number(raw[name] ?? 0);
  return {
    steps: of("steps"),
    input: of("input"),
    cached: of("cached"),
    output: of("output"),
    cost: of("cost"),
    unpriced: of("unpriced"),
  };
}

function parse<T>(text: unknown): T {
  return JSON.parse(text as string) as T;
}
