// What goes on at a place beside the turn that a command is about: commands in the background, and what waits for an
// answer. Whoever asks is answered in any case: an agent that cannot say it in time has nothing to say.

import { sentenceOf } from "../../core/fault.ts";
import { later } from "../../core/ids.ts";
import { limits } from "../../core/limits.ts";
import type { Address } from "../../core/message.ts";
import type { OpenQuestion } from "../../core/route.ts";
import { childOf, over } from "../abort.ts";
import type { Parts } from "../parts.ts";

export function activityAt(parts: Parts, address: Address): Promise<readonly string[]> {
  return linesOf(parts, limits.parkMs, parts.agent.activity?.bind(parts.agent, address));
}

/** Ends it. An end that was asked for twice is one, so it need not wait for the commit that accepts the command. */
export function stopActivityAt(parts: Parts, address: Address): Promise<readonly string[]> {
  return linesOf(parts, limits.stopActivityMs, parts.agent.stopActivity?.bind(parts.agent, address));
}

async function linesOf(
  parts: Parts,
  ms: number,
  ask: (() => Promise<readonly string[]>) | undefined,
): Promise<readonly string[]> {
  if (ask === undefined) return [];
  const { world, hide, closing } = parts;
  const waiting = childOf(closing);
  const none = async (): Promise<readonly string[]> => {
    await world.sleep(later(world.now(), ms), waiting.signal);
    return [];
  };
  try {
    return (await Promise.race([ask(), none()])).map(hide);
  } catch (error) {
    world.log("warn", "the agent cannot say what goes on beside turns", { why: sentenceOf(error) });
    return [];
  } finally {
    waiting.abort(over);
  }
}

export function listed(lines: readonly string[]): string {
  return lines.map((line) => `\n- ${line}`).join("");
}

/** A sentence for each kind of what its user is asked. */
export function askedTexts(open: readonly OpenQuestion[]): readonly string[] {
  const asked = open.filter(({ kind }) => kind === "question").length;
  const leave = open.length - asked;
  return [
    ...(asked > 0
      ? [`${asked === 1 ? "A question of mine waits" : `${asked} questions of mine wait`} for an answer.`]
      : []),
    ...(leave > 0
      ? [`${leave === 1 ? "One thing waits" : `${leave} things wait`} to be allowed: /approve or /deny.`]
      : []),
  ];
}
