// What the CLI and the page ask of a running gateway, and what it answers: types only, as they travel in JSON.
// Moments are milliseconds since the epoch.

import type { Asker, Paired } from "../core/access/pairing.ts";
import type { Fate } from "../core/asked/late.ts";
import type { Delivery } from "../core/delivery.ts";
import type { HeldAnswers } from "../core/held.ts";
import type { Rule } from "../core/approval.ts";
import type { Spent } from "../core/usage.ts";
import type { PeerStatus } from "../ports/peers.ts";
import type { EntryLine, Counts, UsageLine } from "../ports/store.ts";
import type { GatewayEvent, GatewayState, GatewayStatus, Probed } from "../ports/gateway.ts";
import type { FileRef, Message, Question } from "../core/message.ts";
import type { Boot } from "../core/recovery.ts";
import type { ItemState } from "../core/outbox.ts";
import type { Trouble } from "../core/running/patience.ts";
import type { Outcome, TurnState } from "../core/turn.ts";

export type ErrorReply = { readonly error: { readonly code: string; readonly message: string } };

/** `GET /healthz` */
export type HealthReply = { readonly state: GatewayState; readonly version: string; readonly uptimeSeconds: number };
/** `GET /readyz` */
export type ReadyReply = { readonly ready: boolean; readonly reason: string | null };

/** `GET /api/status` */
export type StatusReply = GatewayStatus & {
  readonly version: string;
  readonly pid: number;
  readonly uptimeSeconds: number;
  readonly memoryBytes: number;
  /** How long a stop lets running turns go on, as this gateway was configured when it started. */
  readonly drainSeconds: number;
  readonly counts: Counts;
  /** Answers that may or may not have arrived and wait to be asked for again, by conversation. */
  readonly held: readonly HeldAnswers[];
  /** How the stop goes that is under way: what still runs is interrupted at `until`, all is over at `deadline`. */
  readonly draining: Draining | null;
  /** MCP servers; those that wait for their owner say why. */
  readonly servers: readonly PeerStatus[];
  /** The last lives of this gateway, the newest first; one without a `stop` that is not this one died. */
  readonly boots: readonly Boot[];
};

/** `GET /api/probe`: every platform was asked how it is, which takes some seconds where one does not answer. */
export type ProbeReply = { readonly platforms: readonly Probed[] };
export type { Probed };

export type Draining = Pick<GatewayEvent & { type: "draining" }, "class" | "running" | "until" | "deadline">;

export type SessionView = {
  readonly id: string;
  /** As `everturn send` takes it. */
  readonly address: string;
  readonly platform: string;
  readonly chat: string;
  readonly createdAt: number;
  readonly activeAt: number;
  /** Set when the user started over. */
  readonly endedAt: number | null;
  /** The model its user chose for it; null for the configured one. */
  readonly model: string | null;
  /** In lists only: its first words, and the number of its last message. */
  readonly title?: string;
  readonly lastN?: number;
};

export type TurnView = {
  readonly id: string;
  readonly session: string;
  readonly state: TurnState["state"];
  readonly outcome: Outcome | null;
  readonly why: string | null;
  readonly attempt: number;
  readonly acceptedAt: number;
  /** When the present state began, where that is on record. */
  readonly since: number | null;
  /** Why it does not go on though it runs, and when it is tried again; null while all is well. */
  readonly trouble: Trouble | null;
  readonly text: string;
};

export type ItemView = {
  readonly id: string;
  readonly session: string;
  readonly turn: string | null;
  readonly part: number;
  readonly to: string;
  readonly text: string;
  readonly question: Question | null;
  readonly files: readonly FileRef[];
  readonly createdAt: number;
  readonly state: ItemState["state"];
  readonly attempts: number | null;
  readonly why: string | null;
  /** The platform's own id of it: its receipt. */
  readonly remoteId: string | null;
  /** When it is due, doubtful since, delivered or given up. */
  readonly at: number | null;
};

/** Something that waits for its user; `id` is what an answer names. */
export type QuestionView = {
  readonly id: string;
  /** `approval`: a call waits to be allowed; its answer is one of the choices. */
  readonly kind: "approval" | "question";
  readonly text: string;
  readonly choices: readonly string[];
  readonly turn: string;
  readonly session: string;
  readonly address: string;
  /** When it is given up. */
  readonly until: number;
};

/** `models`: the latest first. Cost is in millionths of a US dollar. */
export type UsedView = { readonly total: Spent; readonly models: readonly string[] };

/** `GET /api/sessions?platform=&limit=` */
export type SessionsReply = { readonly sessions: readonly SessionView[] };
/** `GET /api/sessions/:id` */
export type SessionReply = {
  readonly session: SessionView;
  readonly used: UsedView;
  readonly messages: readonly Message[];
  readonly turns: readonly TurnView[];
};
/** `GET /api/sessions/:id/messages?after=N&limit=`: `next` is the cursor of the next page, null at the end. */
export type SessionMessagesReply = { readonly messages: readonly Message[]; readonly next: number | null };
/** `GET /api/sessions/search?q=` */
export type SearchReply = { readonly messages: readonly Message[] };
/** `GET /api/turns?session=&state=&limit=` */
export type TurnsReply = { readonly turns: readonly TurnView[] };
/** `GET /api/turns/:id` */
export type TurnReply = {
  readonly turn: TurnView;
  readonly session: SessionView | null;
  readonly used: Spent;
  readonly entries: readonly EntryLine[];
  readonly items: readonly ItemView[];
};
/** `GET /api/outbox?state=&limit=` */
export type OutboxReply = { readonly items: readonly ItemView[] };

/** `GET /api/questions?limit=`: everything that waits for an answer, the oldest first. */
export type QuestionsReply = { readonly questions: readonly QuestionView[] };
/** `GET /api/questions/:id`: what became of one, however long ago it was asked. */
export type FateReply = { readonly id: string; readonly fate: Exclude<Fate, { type: "gone" }> };
/** `POST /api/questions/:id/answer`: as its user would by a press. Refused with why where it is too late. */
export type AnswerRequest = { readonly choice: string };
export type AnswerReply = { readonly status: "answered" | "already" };
/** `GET /api/mcp` */
export type ServersReply = { readonly servers: readonly PeerStatus[] };
/** `POST /api/mcp/:name/approve`: the tools that were not approved before. */
export type ApproveToolsReply = { readonly server: string; readonly approved: readonly string[] };

/** `GET /api/rules`: what may be done without asking. */
export type RulesReply = { readonly rules: readonly Rule[] };
/** Somebody who waits to be let in. */
export type PairingView = {
  readonly id: string;
  readonly platform: string;
  readonly account: string;
  readonly sender: string;
  /** What they call themselves. */
  readonly name: string | null;
  readonly address: string;
  readonly askedAt: number;
  readonly expiresAt: number;
};
/** `GET /api/pairings` */
export type PairingsReply = { readonly waiting: readonly PairingView[]; readonly paired: readonly Paired[] };
/** `POST /api/pairings/approve {code, admin?}`, `POST /api/pairings/:id/approve {admin?}` */
export type ApprovePairingReply = { readonly paired: Paired };
/** `POST /api/pairings/deny {who}`; `POST /api/pairings/:id/deny` is done */
export type DenyPairingReply = { readonly denied: Asker };
/** `POST /api/pairings/revoke {who}` */
export type RevokePairedReply = { readonly revoked: Paired };
/** `GET /api/usage?days=&session=`: by day (UTC) and model, the newest day first; today is one of the days. */
export type UsageReply = { readonly lines: readonly UsageLine[]; readonly total: Spent };

/**
 * `POST /api/sessions/:id/reset`, `/api/turns/:id/cancel`, `/api/outbox/:id/retry|discard`, `/api/rules/:id/revoke`,
 * `/api/resume` (safe mode)
 */
export type DoneReply = { readonly done: true };
/** `POST /api/turns/:id/retry`: the turn that now runs; null when so much happened that it was not found again. */
export type RetryReply = DoneReply & { readonly turn: string | null };
/** `POST /api/restart`: answered when the next gateway is certain to begin; refused with why it is not. */
export type RestartRequest = { readonly by: "cli" | "dashboard" | "tool" };
export type RestartReply = { readonly restarting: true };
/** `POST /api/send`: the same key again sends nothing. With `waitMs` the reply waits that long for the delivery. */
export type SendRequest = {
  readonly to: string;
  readonly text: string;
  readonly key: string;
  readonly waitMs?: number;
};
export type SendReply = {
  readonly status: "posted" | "duplicate";
  /** What became of it so far; only with `waitMs`. */
  readonly delivery?: Delivery;
};

/** `POST /api/links`: a link that lets one browser in, once. */
export type NewLinkReply = { readonly link: string; readonly expiresAt: number };
/** `POST /api/sign-in {link}`: trades the secret of a link for a credential, which is given only this once. */
export type SignInReply = { readonly credential: string; readonly device: string };
/** `GET /api/devices`: browsers that are signed in, the first one first. */
export type DevicesReply = { readonly devices: readonly DeviceView[] };
export type DeviceView = {
  readonly id: string;
  readonly name: string;
  readonly createdAt: number;
  readonly seenAt: number;
  /** It is the one that asks. */
  readonly isCurrent: boolean;
};
/** `POST /api/devices/:id/revoke`, `POST /api/devices/revoke` for all */
export type RevokeDevicesReply = { readonly revoked: number };
/** `POST /api/signed {paths}`: the same paths, to be opened without a header until they expire. */
export type SignedReply = { readonly paths: readonly string[]; readonly expiresAt: number };

/** `GET /api/events`: server-sent events, named by the type of what happened. */
export type EventFrame = GatewayEvent;

/** What `gateway_state.json` says beside its other facts: where the control port of the running gateway is. */
export type Whereabouts = { readonly url: string; readonly pid: number };
