// What platforms publish about how fast a bot may send, enforced as they do it: a request too many is refused, with the
// time to wait. Time is an argument, so that the same limits hold in virtual time.

export type Sent = {
  readonly at: number;
  readonly chat: string;
  readonly kind: "post" | "edit";
  readonly isGroup?: boolean;
};

/** How long to wait; 0 when it is taken. A refused request counts for nothing. */
export type Limiter = (one: Sent) => number;

/** At most `count` within any `ms`; the time until the oldest of them has left the window. */
function window(count: number, ms: number): { wait(at: number): number; take(at: number): void } {
  let taken: number[] = [];
  return {
    wait(at) {
      taken = taken.filter((one) => one > at - ms);
      return taken.length < count ? 0 : (taken[taken.length - count] ?? at) + ms - at;
    },
    take: (at) => void taken.push(at),
  };
}

/** A bucket that holds `burst` requests and wins one back every `everyMs`, as Synapse counts. */
function bucket(burst: number, everyMs: number): { wait(at: number): number; take(at: number): void } {
  let paidAt = 0;
  return {
    wait: (at) => Math.max(0, Math.max(paidAt, at) + everyMs - burst * everyMs - at),
    take(at) {
      paidAt = Math.max(paidAt, at) + everyMs;
    },
  };
}

type Counter = ReturnType<typeof window>;

function keyed(make: () => Counter): (key: string) => Counter {
  const all = new Map<string, Counter>();
  return (key) => {
    const found = all.get(key) ?? make();
    all.set(key, found);
    return found;
  };
}

function limiter(countersOf: (one: Sent) => readonly Counter[]): Limiter {
  return (one) => {
    const counters = countersOf(one);
    const wait = Math.max(0, ...counters.map((each) => each.wait(one.at)));
    if (wait === 0) for (const each of counters) each.take(one.at);
    return wait;
  };
}

/** 30 a second in all, about one a second in a chat with short bursts, 20 a minute in a group. Edits count. */
export function telegramLimits(): Limiter {
  const all = window(30, 1_000);
  const chat = keyed(() => bucket(3, 1_000));
  const group = keyed(() => window(20, 60_000));
  return limiter((one) => [all, chat(one.chat), ...(one.isGroup === true ? [group(one.chat)] : [])]);
}

/** One post a second in a channel with short bursts, a few hundred a minute in all; `chat.update` is Tier 3: 50 a minute. */
export function slackLimits(): Limiter {
  const posts = window(300, 60_000);
  const channel = keyed(() => bucket(3, 1_000));
  const updates = window(50, 60_000);
  return limiter((one) => (one.kind === "edit" ? [updates] : [posts, channel(one.chat)]));
}

/** A Synapse as it is installed: `rc_message` with 0.2 a second and a burst of 10, for the whole account. */
export function synapseLimits(): Limiter {
  const account = bucket(10, 5_000);
  return limiter(() => [account]);
}

export type RouteLimit = { readonly limit: number; readonly remaining: number; readonly resetMs: number };

/** How long to wait, and for whom; else what the headers of the answer say. */
export type DiscordVerdict = { readonly waitMs: number; readonly scope: "global" | "user" } | RouteLimit;

/** 50 requests a second in all; five messages in five seconds in a channel, and as many edits, as the headers say. */
export function discordLimits(): (one: Sent) => DiscordVerdict {
  const [limit, ms] = [5, 5_000];
  const all = window(50, 1_000);
  const routes = new Map<string, { from: number; count: number }>();
  return ({ at, chat, kind }) => {
    const route = `${kind} ${chat}`;
    const known = routes.get(route);
    const now = known === undefined || at >= known.from + ms ? { from: at, count: 0 } : known;
    routes.set(route, now);
    const resetMs = now.from + ms - at;
    if (now.count >= limit) return { waitMs: resetMs, scope: "user" };
    const waitMs = all.wait(at);
    if (waitMs > 0) return { waitMs, scope: "global" };
    all.take(at);
    now.count += 1;
    return { limit, remaining: limit - now.count, resetMs };
  };
}
