// What every command is given: its arguments, where to print, and the doors that only the composition root can open.

import { findHome, pathsIn, type Paths } from "../config/paths.ts";
import { systemInput } from "../config/load.ts";
import type { Config } from "../config/schema.ts";
import { type Client, connectGateway } from "../control/client.ts";
import { visibleJson } from "../core/asked/visible.ts";
import type { FileRef } from "../core/message.ts";
import type { Boot } from "../core/recovery.ts";
import { checkGround } from "../host/place.ts";
import type { Output } from "./print.ts";

export type Copy = {
  /** Null when the copy is whole, else what is wrong with it. */
  readonly fault: string | null;
  readonly openTurns: number;
  readonly openItems: number;
  /** Those that it names; their contents are beside it. */
  readonly files: readonly Pick<FileRef, "name" | "blob">[];
};

/** What a command cannot reach by itself. */
export type Doors = {
  readonly version: string;
  /** Resolves with the exit code when the gateway has stopped. */
  runGateway(options: { readonly replace: boolean; readonly home: string | undefined }): Promise<number>;
  /** Copies a store into a file that does not exist yet. */
  copyStore(store: string, file: string): Promise<void>;
  /** Reads a copy from end to end. */
  readCopy(file: string): Promise<Copy>;
  /** The last lives of a gateway, the newest first; beside a running one or without. */
  readBoots(store: string, limit: number): Promise<readonly Boot[]>;
  /** Looks at a store without changing it; rejects with a Fault when it cannot be opened. */
  lookAtStore(store: string): Promise<StoreLook>;
  /** Asks what the agent depends on whether it is there; costs a moment and no tokens. */
  lookAtAgent(config: Config, paths: Paths): Promise<AgentLook>;
};

export type AgentLook = {
  readonly backend: Config["agent"]["backend"];
  /** Those of the configuration, in the order in which they are used. */
  readonly models: readonly { readonly model: string; readonly reach: Reach }[];
  /** Null where nothing that it starts would run in one. */
  readonly sandbox:
    | { readonly type: "on"; readonly kind: string }
    | { readonly type: "off"; readonly why: string; readonly isAccepted: boolean; readonly isRefused?: true }
    | { readonly type: "missing"; readonly why: string }
    | null;
  /** Programs that are to be started and cannot be found. */
  readonly missing: readonly { readonly key: string; readonly program: string }[];
};

export type Reach =
  | { readonly type: "fine" }
  | { readonly type: "unlisted"; readonly near: readonly string[] }
  | { readonly type: "refused" | "silent"; readonly why: string };

export type StoreLook = {
  /** Which tables it has, and which this version makes at its next start. */
  readonly schema: number;
  readonly newest: number;
  /** Null when it is whole. */
  readonly fault: string | null;
  /** What its owner should know about where it lies. */
  readonly warning: string | null;
  readonly tookMs: number;
  readonly openTurns: number;
  readonly openItems: number;
};

export type Context = {
  readonly flags: Readonly<Record<string, string | boolean | undefined>>;
  readonly given: readonly string[];
  readonly output: Output;
  readonly doors: Doors;
  readonly now: () => number;
};

export function textFlag(context: Context, name: string): string | undefined {
  const value = context.flags[name];
  return typeof value === "string" ? value : undefined;
}

export function pathsOf(context: Context): Paths {
  const home = findHome(systemInput(textFlag(context, "home")));
  checkGround(home);
  return pathsIn(home);
}

export function reachGateway(context: Context): Client {
  const { home, state, token } = pathsOf(context);
  return connectGateway({ home, stateFile: state, tokenFile: token });
}

/** JSON when it was asked for, else what `text` makes of it. */
export function show<T>(context: Context, value: T, text: (value: T) => string): number {
  const { output, flags } = context;
  output.out(
    flags["json"] === true ? visibleJson(JSON.stringify(value, null, output.tty ? 2 : undefined)) : text(value),
  );
  return 0;
}

/** A query from flags that are set. */
export function queryOf(context: Context, names: readonly string[]): string {
  const query = new URLSearchParams();
  for (const name of names) {
    const value = textFlag(context, name);
    if (value !== undefined) query.set(name, value);
  }
  return query.size === 0 ? "" : `?${query.toString()}`;
}
