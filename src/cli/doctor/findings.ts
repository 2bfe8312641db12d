// What is looked at on behalf of a home: facts only, nothing is judged here and nothing changed. Whatever cannot be looked
// at is a fact as well.

import type { Probed } from "../../control/protocol.ts";
import type { HeldAnswers } from "../../core/held.ts";
import type { Health } from "../../core/links/health.ts";
import type { ReadStateFile } from "../../host/identity.ts";
import type { Judgement } from "../../host/markers.ts";
import type { Obstacle } from "../../host/obstacles.ts";
import type { ServerFacts } from "./servers.ts";
import type { AgentLook, StoreLook } from "../context.ts";

export type FileFacts = { readonly path: string; readonly mode: number; readonly isOwn: boolean };

export type Findings = {
  readonly home: string;
  readonly now: number;
  readonly system: NodeJS.Platform;
  readonly node: string;
  readonly sqlite: string;
  /** Null where there is no home yet. */
  readonly folder: FileFacts | null;
  /** What in it is not what it must be, or not for this user to use. */
  readonly obstacles: readonly Obstacle[];
  /** Those that only their owner may read. */
  readonly secrets: readonly FileFacts[];
  readonly disk: { readonly free: number; readonly total: number; readonly kind: string } | null;
  /** One sentence each. */
  readonly configFaults: readonly string[];
  readonly drainSeconds: number;
  /** Null where the configuration is wrong. */
  readonly agent: AgentLook | null;
  readonly store: StoreFacts;
  readonly markers: readonly { readonly path: string; readonly judgement: Judgement }[];
  readonly state: ReadStateFile | null;
  /** The process that the state file names lives. */
  readonly isAlive: boolean;
  readonly lock: "held" | "free" | { readonly unusable: string };
  readonly port: { readonly place: string; readonly use: "ours" | "free" | "any" | { readonly taken: string } };
  readonly service: ServiceFacts | null;
  /** The newest sign of life on record. */
  readonly lastBeat: number | null;
  /** What the running gateway says of itself; null when none answers. */
  readonly gateway: {
    readonly state: string;
    readonly reason: string | null;
    readonly safeMode: boolean;
    readonly answeredMs: number;
    readonly platforms: readonly PlatformFacts[];
    readonly servers: readonly ServerFacts[];
    /** What it has given up sending. */
    readonly dead: number;
    readonly held: readonly HeldAnswers[];
  } | null;
};

export type PlatformFacts = {
  /** With its account. */
  readonly name: string;
  readonly platform: string;
  readonly health: Health;
  /** What it said when it was asked how it is; null when it could not be asked. */
  readonly probe: Pick<Probed, "fine" | "said"> | null;
};

export type StoreFacts =
  | { readonly type: "none" }
  | { readonly type: "unusable"; readonly why: string; readonly isDamaged: boolean }
  | ({ readonly type: "found"; readonly bytes: number } & StoreLook);

export type ServiceFacts = {
  readonly title: string;
  /** For the whole system, not for one user. */
  readonly isSystem: boolean;
  readonly state: string;
  /** Its supervisor runs. */
  readonly isAttended: boolean;
  /** Files of it that are not there, and settings that differ from what this version would write. */
  readonly missing: readonly string[];
  readonly differs: readonly string[];
  /** How long its supervisor waits for a stop, and how long that should be; null where it does not say. */
  readonly givenSeconds: number | null;
  readonly neededSeconds: number;
  /** Whether it goes on when its user logs out; null where that is no question. */
  readonly lingers: boolean | null;
  readonly user: string;
  /** The gateway runs as root. */
  readonly isRoot: boolean;
};
