// How the connection to a platform stands, what is said of it, and when it makes the whole gateway unwell. Pure.

import { type Instant, lasting } from "../ids.ts";
import { limits } from "../limits.ts";
import type { Address } from "../message.ts";

export type Health = {
  /**
   * `troubled`: it does not stand, and the platform goes on by itself. `down`: it is tried again at `nextTryAt`, or at this
   * very moment. `denied`: only another configuration helps. `closed`: the gateway stops.
   */
  readonly state: "connecting" | "up" | "troubled" | "down" | "denied" | "closed";
  /** Since when it stands; where it does not, since when it has not stood, however often it was tried. */
  readonly since: Instant;
  readonly why: string | null;
  /** When the platform handed over something the last time, in this life. */
  readonly heardAt: Instant | null;
  readonly nextTryAt: Instant | null;
};

export type HealthNews =
  | { readonly type: "up" }
  | { readonly type: "heard" }
  | { readonly type: "troubled"; readonly why: string }
  | { readonly type: "lost"; readonly why: string; readonly nextTryAt: Instant }
  /** The pause is over. */
  | { readonly type: "trying" }
  | { readonly type: "denied"; readonly why: string }
  | { readonly type: "closed" };

export function newHealth(at: Instant): Health {
  return { state: "connecting", since: at, why: "connecting", heardAt: null, nextTryAt: null };
}

export function advanceHealth(health: Health, news: HealthNews, at: Instant): Health {
  const since = health.state === "up" ? at : health.since;
  switch (news.type) {
    case "up":
      return health.state === "up" ? health : { ...health, state: "up", since: at, why: null, nextTryAt: null };
    case "heard":
      return { ...health, heardAt: at };
    case "troubled":
      return { ...health, state: "troubled", since, why: news.why, nextTryAt: null };
    case "lost":
      return { ...health, state: "down", since, why: news.why, nextTryAt: news.nextTryAt };
    case "trying":
      return { ...health, nextTryAt: null };
    case "denied":
      return { ...health, state: "denied", since: at, why: news.why, nextTryAt: null };
    case "closed":
      return { ...health, state: "closed", since: at, why: "the gateway stops", nextTryAt: null };
  }
}

/** Whether it is worth a word: everything but how often it was tried and when it was heard. */
export function isNews(before: Health, now: Health): boolean {
  return before.state !== now.state || before.why !== now.why;
}

/** When a connection that does not stand becomes a reason to worry; null while it stands. */
export function ailsFrom({ state, since }: Pick<Health, "state" | "since">): Instant | null {
  if (state === "up") return null;
  if (state === "denied" || state === "closed") return since;
  return (since + limits.lossPatienceMs) as Instant;
}

type Link = Pick<Health, "state" | "since"> & { readonly platform: string; readonly isFar: boolean };

/** Which platforms make the gateway unwell, in a few words; why, each of them says itself. Null when none does. */
export function linksTrouble(links: readonly Link[], now: Instant): string | null {
  const isAiling = (one: Link) => now >= (ailsFrom(one) ?? Number.POSITIVE_INFINITY);
  const denied = links.filter((one) => one.state === "denied");
  const isAwaited = (one: Link) => one.state === "connecting" && one.isFar && !isAiling(one);
  const isAnyThere = links.length === 0 || links.some((one) => one.state === "up" || isAwaited(one));
  const lost = links.filter((one) => one.state !== "denied" && (isAnyThere ? isAiling(one) : one.state !== "up"));
  const told = [
    isAnyThere ? said(lost, "is not connected", "are not connected") : "no platform is connected",
    said(denied, "does not let us in", "do not let us in"),
  ].filter((one) => one !== null);
  return told.length === 0 ? null : told.join("; ");
}

function said(links: readonly Link[], one: string, several: string): string | null {
  const names = links.map(({ platform }) => platform);
  if (names.length < 2) return names[0] === undefined ? null : `${names[0]} ${one}`;
  return `${names.slice(0, -1).join(", ")} and ${names.at(-1)} ${several}`;
}

/** What is wrong and what to do. */
export function deniedText({ platform, why }: { readonly platform: string; readonly why: string | null }): string {
  return `${platform} does not let us in: ${ended(why ?? "it did not say why")} ${deniedTodo(platform)}`;
}

export function deniedTodo(platform: string): string {
  return `Correct \`platforms.${platform}\` in the configuration; it is tried again after \`everturn gateway restart\`.`;
}

/** For the homes of other platforms. An account is told of once with the same configuration, whatever dies. */
export function deniedNotice(
  denied: { readonly platform: string; readonly account: string; readonly why: string | null },
  config: string,
  home: Address,
): { readonly text: string; readonly key: string } {
  const { platform, account } = denied;
  return { text: deniedText(denied), key: `denied:${platform}:${account}:${config}:${home.platform}` };
}

/** One line for whoever asks how it is. */
export function healthText({ state, since, why, heardAt, nextTryAt }: Health, now: Instant): string {
  const long = lasting(Math.max(0, now - since));
  const heard = heardAt === null ? "nothing heard yet" : `last heard ${lasting(Math.max(0, now - heardAt))} ago`;
  const reason = why === null ? "" : `: ${why}`;
  switch (state) {
    case "up":
      return `up for ${long}, ${heard}`;
    case "connecting":
      return `connecting for ${long}`;
    case "troubled":
      return `down for ${long}${reason}`;
    case "down": {
      const next = nextTryAt === null ? "trying now" : `next try in ${lasting(Math.max(0, nextTryAt - now))}`;
      return `down for ${long}${reason} (${next})`;
    }
    case "denied":
      return `denied${reason}`;
    case "closed":
      return `down${reason}`;
  }
}

/** With a full stop. */
export function ended(sentence: string): string {
  return /[.!?]$/.test(sentence) ? sentence : `${sentence}.`;
}
