// What everything has in hand that follows the stream of a homeserver, and how long it waits for an answer.

import { sentenceOf } from "../../core/fault.ts";
import type { Inlet, Surroundings } from "../../ports/platform.ts";
import type { MatrixApi } from "./api.ts";
import type { Self } from "./inbound.ts";

export type Following = {
  readonly api: MatrixApi;
  readonly self: Self;
  readonly around: Surroundings;
  readonly inlet: Inlet;
};

/** A call without an answer after this is given up: its connection may be dead without anybody saying so. */
const answerMs = 30_000;

export function limited(signal: AbortSignal, ms: number = answerMs): AbortSignal {
  return AbortSignal.any([signal, AbortSignal.timeout(ms)]);
}

/** Nothing depends on it, and nobody waits for it. */
export async function courtesy(world: Surroundings["world"], what: string, work: Promise<void>): Promise<void> {
  try {
    await work;
  } catch (error) {
    world.log("debug", `Matrix: a ${what} could not be shown`, { why: sentenceOf(error) });
  }
}
