// Remembers which servers speak the older protocol (`initialize`, before 2026-07-28), so that a silent one does not cost
// the probe's time at every start. Kept for seven days, for exactly this command or URL with these credentials.

import { createHash } from "node:crypto";
import { sentenceOf } from "../../core/fault.ts";
import type { McpOptions, McpServer } from "./options.ts";

export interface EraMemory {
  isLegacy(): Promise<boolean>;
  /** Never fails: without it the next start probes again. */
  remember(era: "legacy" | "unknown"): Promise<void>;
}

const keptMs = 7 * 86_400_000;

export function eraMemory(
  name: string,
  settings: McpServer,
  { facts, log }: Pick<McpOptions, "facts" | "log">,
  now: () => number = Date.now,
): EraMemory {
  const fact = `mcp.era.${name}`;
  const server = digestOf(settings);
  let legacyUntil: number | null = null;
  return {
    async isLegacy() {
      legacyUntil ??= await facts.read(fact).then(
        (stored) => readUntil(stored, server),
        () => 0,
      );
      // A clock that was set back does not keep it for longer.
      return legacyUntil > now() && legacyUntil <= now() + keptMs;
    },
    async remember(era) {
      const until = era === "legacy" ? now() + keptMs : 0;
      const isKnown = era === "unknown" && (legacyUntil ?? 0) === 0;
      legacyUntil = until;
      if (isKnown) return;
      await facts.write(fact, JSON.stringify({ server, until })).catch((error: unknown) => {
        log("debug", "the protocol of an MCP server could not be stored", { server: name, why: sentenceOf(error) });
      });
    },
  };
}

/** 0 when nothing is known of this server. */
function readUntil(stored: string | null, server: string): number {
  try {
    const known = JSON.parse(stored ?? "null") as { readonly server?: unknown; readonly until?: unknown } | null;
    return known?.server === server && typeof known.until === "number" ? known.until : 0;
  } catch (error) {
    if (error instanceof SyntaxError) return 0;
    throw error;
  }
}

function digestOf(settings: McpServer): string {
  const what = "url" in settings ? [settings.url, settings.headers] : [settings.command, settings.env];
  return createHash("sha256").update(JSON.stringify(what)).digest("hex");
}
