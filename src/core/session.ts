// A session is one conversation with one memory. Its key names the place and stays; its id names the memory and
// changes when the user starts over. The owner and its fence say which boot may write for it.

import type { BootId, Instant, SessionId } from "./ids.ts";
import { type Address, formatAddress } from "./message.ts";

export type Session = {
  readonly id: SessionId;
  /** Opaque; never parsed back. The address is stored beside it. */
  readonly key: string;
  readonly address: Address;
  readonly owner: BootId | null;
  /** Raised at each change of owner; every write of a turn names the fence it holds. */
  readonly fence: number;
  readonly createdAt: Instant;
  readonly activeAt: Instant;
  /** Set when the user started over: another session now has this key. */
  readonly endedAt: Instant | null;
  /** Suspended: its next message starts over, whatever else is noted here. */
  readonly standing: "active" | "suspended";
  /** Its turn was interrupted and goes on. */
  readonly resume: Resume | null;
  /** Why it took the place of another by itself. */
  readonly reset: "suspended" | null;
  /** The model its user chose; null for the configured one. */
  readonly model: string | null;
  /** Strangers' words came into it: its agent may look at them until its user starts over. */
  readonly outside: boolean;
  /** In a group, somebody wrote in it who is neither owner nor admin: to these it is marked as well. */
  readonly guests?: true;
};

/** `crash`: the process died without having begun a stop. */
export type ResumeReason = "restart_timeout" | "shutdown_timeout" | "crash";
/** `markedAt` is null where the stored moment could not be read. */
export type Resume = { readonly reason: ResumeReason; readonly markedAt: Instant | null };

export function sessionKey(address: Address): string {
  return formatAddress(address);
}

export function newSession(
  id: SessionId,
  address: Address,
  owner: BootId,
  at: Instant,
  model: string | null = null,
): Session {
  const key = sessionKey(address);
  const fresh = { endedAt: null, standing: "active", resume: null, reset: null, outside: false } as const;
  return { id, key, address, owner, fence: 1, createdAt: at, activeAt: at, ...fresh, model };
}

/** What the next message at a place meets: the session that is there, or one that starts over because of it. */
export type Access = { readonly type: "keep" } | { readonly type: "start-over"; readonly reset: "suspended" };

/** Suspended counts more than anything else that is noted: a session that is also to be resumed starts over too. */
export function decideAccess(session: Session): Access {
  return session.standing === "suspended" ? { type: "start-over", reset: "suspended" } : { type: "keep" };
}

/** The session that takes the place of another by itself. */
export function followerOf(session: Session, id: SessionId, owner: BootId, at: Instant): Session {
  return { ...newSession(id, session.address, owner, at, session.model), reset: "suspended" };
}

/** The session as the boot holds it: taken over, with a higher fence, when another boot had it. */
export function takenBy(session: Session, boot: BootId): Session {
  return session.owner === boot ? session : { ...session, owner: boot, fence: session.fence + 1 };
}
