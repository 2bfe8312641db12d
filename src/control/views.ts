// What is shown of sessions, turns and items: from the shapes of the store to the shapes of the protocol. Pure.

import { type Message, formatAddress, textOf } from "../core/message.ts";
import type { ItemState, OutboxItem } from "../core/outbox.ts";
import type { Session } from "../core/session.ts";
import type { Turn, TurnState } from "../core/turn.ts";
import type { GatewayEvent, GatewayStatus } from "../ports/gateway.ts";
import type { Counts, SessionLine } from "../ports/store.ts";
import type { Draining, HealthReply, ItemView, ReadyReply, SessionView, StatusReply, TurnView } from "./protocol.ts";

/** Facts about the process that the gateway itself does not know. */
export type ProcessFacts = Pick<StatusReply, "pid" | "version" | "drainSeconds" | "memoryBytes">;

export function toStatus(
  status: GatewayStatus,
  counts: Counts,
  facts: ProcessFacts,
  now: number,
): Omit<StatusReply, "boots" | "draining" | "held" | "servers"> {
  return { ...status, ...facts, uptimeSeconds: uptime(status, now), counts };
}

export function toHealth(status: GatewayStatus, version: string, now: number): HealthReply {
  return { state: status.state, version, uptimeSeconds: uptime(status, now) };
}

/** Ready means: messages are accepted and answered. */
export function toReady(status: GatewayStatus): ReadyReply {
  if (status.state === "running") return { ready: true, reason: null };
  return { ready: false, reason: status.reason ?? `the gateway is ${status.state}` };
}

export function toDraining({ class: kind, running, until, deadline }: GatewayEvent & { type: "draining" }): Draining {
  return { class: kind, running, until, deadline };
}

export function toSession(session: Session | SessionLine): SessionView {
  const { id, address, createdAt, activeAt, endedAt, model } = session;
  return {
    id,
    address: formatAddress(address),
    platform: address.platform,
    chat: address.chat,
    createdAt,
    activeAt,
    endedAt,
    model,
    ...("title" in session ? { title: session.title, lastN: session.lastN } : {}),
  };
}

export function toTurn(turn: Turn, running: GatewayStatus["running"]): TurnView {
  const { id, session, now, attempt, acceptedAt } = turn;
  const done = now.state === "done" ? now : null;
  return {
    id,
    session,
    state: now.state,
    outcome: done?.outcome ?? null,
    why: done?.why ?? null,
    attempt,
    acceptedAt,
    since: sinceWhen(now),
    trouble: running.find((one) => one.turn === id)?.trouble ?? null,
    text: textOf(turn.input.body),
  };
}

function sinceWhen(now: TurnState): number | null {
  switch (now.state) {
    case "running":
      return now.startedAt;
    case "parked":
      return now.parkedAt;
    case "restarting":
      return now.askedAt;
    case "done":
      return now.doneAt;
    case "queued":
    case "waiting":
      return null;
  }
}

export function toItem(item: OutboxItem): ItemView {
  const { id, session, turn, part, to, text, question, files, createdAt, now } = item;
  return {
    id,
    session,
    turn,
    part,
    to: formatAddress(to),
    text,
    question: question ?? null,
    files,
    createdAt,
    state: now.state,
    attempts: "attempts" in now ? now.attempts : null,
    why: "why" in now ? (now.why ?? null) : null,
    remoteId: now.state === "delivered" ? now.remoteId : null,
    at: momentOf(now),
  };
}

function momentOf(now: ItemState): number | null {
  switch (now.state) {
    case "pending":
      return now.dueAt;
    case "in-doubt":
      return now.since;
    case "delivered":
      return now.deliveredAt;
    case "dead":
      return now.deadAt;
    case "sending":
      return null;
  }
}

/** The messages of one session in a page read by address, and the cursor of the next page. */
export function toSessionPage(
  page: readonly Message[],
  session: string,
  limit: number,
): { readonly messages: readonly Message[]; readonly next: number | null } {
  const next = page.length < limit ? null : (page.at(-1)?.n ?? null);
  return { messages: page.filter((one) => one.session === session), next };
}

function uptime(status: GatewayStatus, now: number): number {
  return Math.max(0, Math.round((now - status.startedAt) / 1000));
}
