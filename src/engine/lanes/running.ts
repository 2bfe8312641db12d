// A turn that runs in a lane. It has no session of its own: what is noted of one is noted of the other.

import type { Turn } from "../../core/turn.ts";
import type { Running } from "../turns/run.ts";
import type { Lane } from "./lanes.ts";

export function runIn(lane: Lane, turn: Turn, joins: number, onResult: (isClear: boolean) => void): Running {
  const running: Running = {
    turn,
    get session() {
      return lane.session;
    },
    set session(changed) {
      lane.session = changed;
    },
    abort: new AbortController(),
    steps: 0,
    join: joins,
    hasResult: false,
    trouble: null,
    words: "",
    progressed(isClear) {
      running.hasResult = true;
      onResult(isClear);
    },
  };
  return running;
}
