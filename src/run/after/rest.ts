// Memory after much work. The runtime collects what nobody needs any more when it needs the room, and a gateway that has
// gone quiet never does; so what a busy hour has used would stay taken. When many turns have ended and none runs, it is
// collected once.

import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import type { Gateway } from "../../ports/gateway.ts";

/** So much work is worth a pause of a few hundredths of a second. */
const turnsEnough = 100;
const lookMs = 2_000;

/** Goes on until the answer is called. */
export function restAfterWork(gate: Pick<Gateway, "watch" | "status">, collect = collector()): () => void {
  let ended = 0;
  let before = 0;
  const off = gate.watch((event) => {
    if (event.type === "turn-ended") ended++;
  });
  const clock = setInterval(() => {
    const isQuiet = ended === before && gate.status().running.length === 0;
    before = ended;
    if (!isQuiet || ended < turnsEnough) return;
    ended = 0;
    before = 0;
    collect();
  }, lookMs);
  clock.unref();
  return () => {
    clearInterval(clock);
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
