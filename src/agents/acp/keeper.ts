// Keeps one process of the agent's program at hand, for one person: started when it is needed, started again after its
// death, and not more often than pauses that grow with every early death allow.

import { sentenceOf } from "../../core/fault.ts";
import type { PeerWorkspace } from "../../peers/launch.ts";
import type { Link } from "./link.ts";
import type { AcpOptions, AcpPace } from "./options.ts";
import { AcpTrouble } from "./trouble.ts";

export interface Keeper {
  /** Rejects with `AcpTrouble`. */
  link(): Promise<Link>;
  close(): Promise<void>;
}

/** A life of this length was no failure to start. */
const steadyMs = 60_000;

export function keeper(options: AcpOptions, pace: AcpPace, workspace: PeerWorkspace): Keeper {
  let opening: Promise<Link> | null = null;
  let closing = new AbortController();
  let current: Link | null = null;
  let since = 0;
  let deaths = 0;
  let notBefore = 0;
  let why = "";

  function died(reason: string): void {
    if (performance.now() - since > steadyMs) deaths = 0;
    // The first death may be bad luck, and the turn that met it waits.
    const pauseMs = deaths === 0 ? 0 : Math.min(pace.retryMinMs * 2 ** (deaths - 1), pace.retryMaxMs);
    deaths++;
    notBefore = performance.now() + pauseMs;
    why = reason;
    options.log("warn", "the ACP agent is gone", { why: reason, deaths, pauseMs });
  }

  async function open(): Promise<Link> {
    since = performance.now();
    try {
      const { openLink } = await import("./link.ts");
      const made = await openLink(options, pace, workspace, closing.signal);
      current = made;
      options.log("info", "the ACP agent is connected", { load: made.can.load, image: made.can.image });
      return made;
    } catch (error) {
      died(sentenceOf(error));
      throw error;
    } finally {
      opening = null;
    }
  }

  return {
    async link() {
      const over = current?.over() ?? null;
      if (current !== null && over === null) return current;
      if (over !== null) {
        current = null;
        died(over);
      }
      const waitMs = notBefore - performance.now();
      if (opening === null && waitMs > 0) throw new AcpTrouble("later", why, Math.ceil(waitMs));
      return (opening ??= open());
    },
    async close() {
      closing.abort();
      closing = new AbortController();
      const last = current ?? (await opening?.catch(notOpened)) ?? null;
      current = null;
      await last?.close("we closed it");
    },
  };
}

/** Whoever waits for it has the reason. */
function notOpened(error: unknown): null {
  if (error instanceof Error) return null;
  throw error;
}
