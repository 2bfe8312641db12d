// Memory after much work. The runtime gives back what nobody needs any more by itself, but only when a gateway has been
// quiet for ten seconds to a minute, and until then a busy hour looks like a hundred megabytes more. When many turns have
// ended and none runs, it is done at once; and also when a platform was heard of for the first time, because its library
// was loaded for that and left much behind.

import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import type { Gateway, GatewayEvent } from "../../ports/gateway.ts";

/** So much work is worth a pause of a few hundredths of a second. */
const turnsEnough = 100;
const quietMs = 2_000;

/** Goes on until the answer is called. */
export function restAfterWork(gate: Pick<Gateway, "watch" | "status">, collect = collector()): () => void {
  const met = new Set<string>();
  let ended = 0;
  let clock: NodeJS.Timeout | undefined;
  const rest = () => {
    // The end of what runs now starts the clock again.
    if (gate.status().running.length > 0) return;
    ended = 0;
    collect();
  };
  const isEnough = (event: GatewayEvent): boolean => {
    if (event.type === "turn-ended") return ++ended >= turnsEnough;
    if (event.type !== "platform") return false;
    const before = met.size;
    return met.add(`${event.platform}/${event.account}`).size > before;
  };
  const off = gate.watch((event) => {
    if (!isEnough(event)) return;
    clearTimeout(clock);
    clock = setTimeout(rest, quietMs).unref();
  });
  return () => {
    clearTimeout(clock);
    off();
  };
}

/** The collector has a name only where it was asked for. */
function collector(): () => void {
  setFlagsFromString("--expose-gc");
  const gc = runInNewContext("gc") as (options?: object) => void;
  setFlagsFromString("--no-expose-gc");
  return () => gc({ type: "major", flavor: "last-resort" });
}
