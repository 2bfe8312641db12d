// Whether the far side of an account can be reached, as a harmless probe says. After a send without an answer the account
// is probed: while probes fail, nothing else leaves, so a break of the connection costs no further attempts. Sending goes
// on with the first probe that succeeds, or when the platform's own connection stands again.

import { Fault, sentenceOf } from "../../core/fault.ts";
import { later } from "../../core/ids.ts";
import { limits } from "../../core/limits.ts";
import type { Address } from "../../core/message.ts";
import type { ProbeResult } from "../../core/outbox.ts";
import type { Platform } from "../../ports/platform.ts";
import { childOf, over } from "../abort.ts";
import { type Parts, platformOf } from "../parts.ts";
import type { Gate } from "./pace.ts";

export interface Reach {
  /** After a failed probe the account is shut until one succeeds. Null where the platform has no probe. */
  probe(to: Address): Promise<ProbeResult | null>;
  /** The platform's own connection stands, which is as good as a probe. */
  alive(platform: Pick<Platform, "name" | "account">): void;
}

type Account = {
  readonly platform: Platform;
  /** The probe under way; several uncertain sends share it. */
  probing: Promise<boolean> | null;
  /** Ends the wait for the next probe; null while the account is reached. */
  waiting: AbortController | null;
};

export function reach(parts: Parts, gate: Pick<Gate, "reaches">, closing: AbortSignal): Reach {
  const { world, hide } = parts;
  const accounts = new Map<string, Account>();

  function accountOf({ platform: name, account }: Pick<Address, "platform" | "account">): Account | null {
    const key = JSON.stringify([name, account]);
    const found = accounts.get(key);
    if (found !== undefined) return found;
    const platform = platformOf(parts, { platform: name, account });
    if (platform?.ping === undefined) return null;
    const made: Account = { platform, probing: null, waiting: null };
    accounts.set(key, made);
    return made;
  }

  function probe(account: Account): Promise<boolean> {
    account.probing ??= probed(account.platform).finally(() => (account.probing = null));
    return account.probing;
  }

  /** Null when it answered, else why it did not. */
  async function failureOf(platform: Platform): Promise<string | null> {
    const own = childOf(closing);
    const silence = world
      .sleep(later(world.now(), limits.probeMs), own.signal)
      .then(() => `it did not answer within ${limits.probeMs / 1_000} s`);
    try {
      return await Promise.race([platform.ping?.(own.signal).then(() => null) ?? null, silence]);
    } catch (error) {
      // A refusal is an answer: the connection is fine, and sends get the refusal themselves.
      return error instanceof Fault && error.code === "denied" ? null : hide(sentenceOf(error));
    } finally {
      own.abort(over);
    }
  }

  async function probed(platform: Platform): Promise<boolean> {
    const why = await failureOf(platform);
    if (why !== null && !closing.aborted)
      world.log("debug", `${platform.name} cannot be reached`, { account: platform.account, why });
    return why === null;
  }

  /** Probes with growing pauses until one succeeds. */
  async function untilReached(account: Account, waiting: AbortController): Promise<void> {
    const { name, account: id } = account.platform;
    const since = world.now();
    let pause: number = limits.reachProbeMinMs;
    world.log("warn", `${name} cannot be reached; answers wait`, { account: id });
    while (!waiting.signal.aborted) {
      await world.sleep(later(world.now(), pause), waiting.signal);
      if (waiting.signal.aborted || (await probe(account))) break;
      pause = Math.min(pause * 2, limits.reachProbeMaxMs);
    }
    if (closing.aborted) return;
    account.waiting = null;
    world.log("info", `${name} is reached again`, { account: id, afterMs: world.now() - since });
    gate.reaches(account.platform, true);
  }

  return {
    async probe(to) {
      const account = accountOf(to);
      if (account === null) return null;
      if (account.waiting !== null) return "failed";
      const isReached = await probe(account);
      if (closing.aborted) return null;
      if (isReached) return "succeeded";
      if (account.waiting === null) {
        account.waiting = childOf(closing);
        gate.reaches(account.platform, false);
        untilReached(account, account.waiting).catch(parts.broken);
      }
      return "failed";
    },
    alive({ name, account }) {
      accountOf({ platform: name, account })?.waiting?.abort(over);
    },
  };
}
