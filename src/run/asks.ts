// What the operating system and markers ask of this process, from the moment it holds its home. A request that comes before
// there is a gateway waits for it. Whoever asked, the first request is looked at once: a snapshot goes into the store
// with the stop and a line into the log, and if the stop does not come to an end, the process does.

import { join } from "node:path";
import type { Paths } from "../config/paths.ts";
import { sentenceOf } from "../core/fault.ts";
import { toLogLine } from "../core/forensics.ts";
import type { StopIntent } from "../core/lifecycle.ts";
import { limits } from "../core/limits.ts";
import { takeSnapshot } from "../host/forensics/snapshot.ts";
import type { ProcessIdentity } from "../host/identity.ts";
import { announcedNow } from "../host/markers.ts";
import type { World } from "../ports/world.ts";
import { classify, signalsOf } from "./classify.ts";
import { isAttended } from "./next/handover.ts";

export type Asked = {
  stop(intent: StopIntent): void;
  restart(intent: StopIntent): void;
};

/** Its owner wants an end; another one goes on; somebody ends it without a word. */
export type Revoked = "planned" | "take-over" | "unexpected";

export type Asks = {
  /** From now on requests are answered; those that came before first. */
  answer(by: Asked): void;
  /** For the gateway: what is known at the first request, whoever made it. */
  witness(intent: StopIntent): StopIntent["context"];
  /** What takes the return of a restart back that is under way: the first request decides the class, not this. */
  revoked(): Revoked | null;
  /** A marker that names this process has appeared. */
  marked(): void;
  off(): void;
};

export type AskParts = {
  readonly world: Pick<World, "now" | "log">;
  readonly paths: Pick<Paths, "plannedStop" | "takeOver" | "logs">;
  readonly self: ProcessIdentity;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly drainMs: number;
  /** Takes out secrets: somebody may have given us one on a command line. */
  readonly hide: (value: unknown) => unknown;
  /** The stop has had all its time. */
  readonly overdue: (intent: StopIntent) => void;
};

export function watchAsks({ world, paths, self, env, drainMs, hide, overdue }: AskParts): Asks {
  let answering: Asked | null = null;
  let early: (NodeJS.Signals | null)[] = [];
  /** The signal that is being answered; a stop that it brings about has come by it. */
  let signalNow: NodeJS.Signals | null = null;
  let deadline: NodeJS.Timeout | null = null;
  /** The last request that was no restart; that its owner wants an end is never forgotten. */
  let against: Revoked | null = null;

  /** Also for who is asked before there is a gateway: what hangs in a start must not outlive a stop either. */
  function limit(intent: StopIntent): void {
    deadline ??= setTimeout(() => overdue(intent), drainMs + limits.stopMs).unref();
  }

  function heard(signal: NodeJS.Signals | null): void {
    const marker = announcedNow(paths, self, world.now());
    const intent = classify({ signal, marker });
    if (answering === null) {
      early.push(signal);
      // A restart may be refused, and then it goes on.
      if (intent.class !== "restart") limit(intent);
      return;
    }
    signalNow = signal;
    if (intent.class === "restart") answering.restart(intent);
    else {
      against = against === "planned" ? against : revokedBy(intent.class);
      answering.stop(intent);
    }
    signalNow = null;
  }

  const signals = signalsOf(process.platform);
  for (const name of signals) process.on(name, heard);
  return {
    answer(by) {
      answering = by;
      for (const signal of early) heard(signal);
      early = [];
    },
    witness(intent) {
      // A restart asked by a signal is prepared first, and the signal is long over when the stop begins.
      const signal = signalNow ?? intent.signal ?? null;
      const snapshot = takeSnapshot({ signal, self, markerFiles: paths, env, isAttended: isAttended(env) });
      world.log("info", `asked to stop (${intent.class}, by ${intent.by}): ${toLogLine(snapshot)}`);
      limit(intent);
      const file = join(paths.logs, "gateway-shutdown-diag.log");
      // The stop begins first: starting a process takes longer than all that a quiet stop does before its last write.
      setImmediate(() => void diagnose(file, signal, world));
      return hide(snapshot) as StopIntent["context"];
    },
    revoked() {
      // Whoever drains looks at no markers any more.
      const marker = announcedNow(paths, self, world.now());
      return marker === null ? against : marker === "plannedStop" ? "planned" : "take-over";
    },
    marked: () => heard(null),
    off() {
      for (const name of signals) process.off(name, heard);
      if (deadline !== null) clearTimeout(deadline);
    },
  };
}

function revokedBy(kind: StopIntent["class"]): Revoked {
  return kind === "planned" || kind === "take-over" ? kind : "unexpected";
}

async function diagnose(file: string, signal: string | null, world: Pick<World, "log">): Promise<void> {
  try {
    const { spawnDiagnostic } = await import("../host/forensics/diagnostic.ts");
    const pid = spawnDiagnostic({ file, signal });
    if (pid !== null) world.log("debug", "a diagnostic of the machine is written", { pid, file });
  } catch (error) {
    // The program may have been replaced by another version since it was started.
    world.log("debug", "there is no diagnostic of the machine", { why: sentenceOf(error) });
  }
}
