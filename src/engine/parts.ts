// What every moving part of the engine is given. Nothing in the engine reaches for anything else.

import type { AccessRules } from "../core/access/access.ts";
import type { Hide } from "../core/hide.ts";
import type { BootId } from "../core/ids.ts";
import type { BusyPolicy } from "../core/lane.ts";
import type { InDoubtPolicy } from "../core/outbox.ts";
import type { Budget } from "../core/usage.ts";
import type { Agent } from "../ports/agent.ts";
import type { Platform } from "../ports/platform.ts";
import type { Archive, Store } from "../ports/store.ts";
import type { Tool } from "../ports/tool.ts";
import type { World } from "../ports/world.ts";
import type { Events } from "./events.ts";
import type { Ledger } from "./ledger.ts";

export type PlatformSettings = {
  readonly busy: BusyPolicy;
  readonly inDoubt: InDoubtPolicy;
  /** Where the gateway itself speaks to its owner. */
  readonly home: { readonly account: string; readonly chat: string; readonly thread?: string } | null;
  /** Whether people there are told of stops and restarts. */
  readonly restartNotices: boolean;
  /** Senders who may command the gateway itself, by id or name; "*" is everybody who may speak. */
  readonly admins: readonly string[];
  /** Who may approve beside the owner and the admins; null where it is not configured. */
  readonly approvers: readonly string[] | null;
  /** Who may speak; null where whoever gets in may, as at our own clients. */
  readonly access: AccessRules | null;
};

export type RecoverySettings = {
  /** What becomes of conversations that were active when the process died by itself. */
  readonly afterCrash: "resume" | "suspend";
  /** Whether interrupted turns go on by themselves, or with their user's next message. */
  readonly autoResume: boolean;
};

export type Settings = {
  readonly drainMs: number;
  readonly lanesMax: number;
  readonly recovery: RecoverySettings;
  /** The most that models may be paid; without it there is no limit. */
  readonly budget?: Budget | null;
  /** By platform name. */
  readonly platforms: Readonly<Record<string, PlatformSettings>>;
};

export const defaultPlatformSettings: PlatformSettings = {
  busy: "queue",
  inDoubt: "resend",
  home: null,
  restartNotices: true,
  admins: [],
  approvers: null,
  access: null,
};

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
  /** Takes known secrets out of whatever leaves: results of tools, previews, answers, questions. */
  readonly hide: Hide;
  /** Aborts when nothing may be waited for any more. */
  readonly closing: AbortSignal;
  /** A mistake of ours was met: the gateway stops, and recovery does the rest. */
  readonly broken: (error: unknown) => void;
};

export function toolNamed(agent: Agent, name: string): Tool | null {
  return agent.tools.find((tool) => tool.name === name) ?? agent.toolNamed?.(name) ?? null;
}

export function platformOf(parts: Parts, to: { readonly platform: string; readonly account: string }): Platform | null {
  return parts.platforms.find((one) => one.name === to.platform && one.account === to.account) ?? null;
}

export function settingsOf(parts: Parts, platform: string): PlatformSettings {
  return parts.settings.platforms[platform] ?? defaultPlatformSettings;
}
