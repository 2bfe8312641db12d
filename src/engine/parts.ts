// What every moving part of the engine is given. Nothing in the engine reaches for anything else.

import type { BootId } from "../core/ids.ts";
import type { BusyPolicy } from "../core/lane.ts";
import type { InDoubtPolicy } from "../core/outbox.ts";
import type { Agent } from "../ports/agent.ts";
import type { Platform } from "../ports/platform.ts";
import type { Archive, Store } from "../ports/store.ts";
import type { World } from "../ports/world.ts";
import type { Events } from "./events.ts";
import type { Ledger } from "./ledger.ts";

export type PlatformSettings = { readonly busy: BusyPolicy; readonly inDoubt: InDoubtPolicy };

export type Settings = {
  readonly drainMs: number;
  readonly lanesMax: number;
  /** By platform name. */
  readonly platforms: Readonly<Record<string, PlatformSettings>>;
};

export const defaultPlatformSettings: PlatformSettings = { busy: "queue", inDoubt: "resend" };

export type Parts = {
  readonly boot: BootId;
  readonly store: Store;
  readonly archive: Archive;
  readonly ledger: Ledger;
  readonly world: World;
  readonly agent: Agent;
  readonly platforms: readonly Platform[];
  readonly settings: Settings;
  readonly events: Events;
  /** Aborts when nothing may be waited for any more. */
  readonly closing: AbortSignal;
  /** A mistake of ours was met: the gateway stops, and recovery does the rest. */
  readonly broken: (error: unknown) => void;
};

export function platformOf(parts: Parts, to: { readonly platform: string; readonly account: string }): Platform | null {
  return parts.platforms.find((one) => one.name === to.platform && one.account === to.account) ?? null;
}

export function settingsOf(parts: Parts, platform: string): PlatformSettings {
  return parts.settings.platforms[platform] ?? defaultPlatformSettings;
}
