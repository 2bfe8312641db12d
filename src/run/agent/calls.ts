// What the store knows of the calls that commands belong to, by the key of a call: its turn, its step, its own name. Read when
// folders are tidied, and when one that should be there is not; never on the path of a turn.

import type { TurnId } from "../../core/ids.ts";
import type { Calls } from "../../host/jobs/jobs.ts";
import type { Archive, Store } from "../../ports/store.ts";

export function callsIn(store: Pick<Store, "turn"> & Pick<Archive, "entries">): Calls {
  return {
    async isOpen(key) {
      const { turn } = partsOf(key);
      const found = await store.turn(turn);
      return found !== null && found.now.state !== "done";
    },
    async begunAt(key) {
      const { turn, step, call } = partsOf(key);
      const lines = (await store.entries(turn)).slice(step + 1);
      return lines.find(({ entry }) => entry.type === "tool-begun" && entry.call === call)?.at ?? null;
    },
  };
}

/** As the engine makes them; the name of a call is its model's, and may hold anything. */
function partsOf(key: string): { readonly turn: TurnId; readonly step: number; readonly call: string } {
  const [turn = "", step = "", ...call] = key.split(":");
  return { turn: turn as TurnId, step: Number(step), call: call.join(":") };
}
