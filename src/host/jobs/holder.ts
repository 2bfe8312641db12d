// Starts the holder of a job (bin/hold.js): in a session of its own, tied to us by nothing, and out of our control group
// where that is allowed. It takes the environment of the command, so nothing of ours reaches either.

import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { Fault, sentenceOf } from "../../core/fault.ts";
import { type Dwelling, findDwelling, scopeCommand } from "./scope.ts";

export type Holder = {
  /** How it ended; null while it lives. */
  readonly ended: () => string | null;
  /** Called once, at its end; answers how to take that back. */
  onEnd(listener: () => void): () => void;
};

export type Holders = {
  start(id: string, folder: string, env: Readonly<Record<string, string>>): Promise<Holder>;
  /** The scope that one was to be started in was refused after all; the next ones do without. */
  refused(why: string): void;
  /** Whether jobs outlive the service that we are, and why not. */
  dwelling(): Promise<Dwelling>;
};

/** In the sources three folders up, in the bundle one. */
export function holderFile(from: string = import.meta.dirname): string {
  const places = [join(from, "..", "bin", "hold.js"), join(from, "..", "..", "..", "bin", "hold.js")];
  const found = places.find((path) => existsSync(path));
  if (found === undefined)
    throw new Fault("not-possible", `A part of Everturn is missing (${places[0]}); install it again.`);
  return found;
}

export function openHolders(find: () => Promise<Dwelling> = findDwelling): Holders {
  let dwelling: Promise<Dwelling> | null = null;
  const known = () => (dwelling ??= find());
  return {
    dwelling: known,
    refused(why) {
      dwelling = known().then((one) => (one.type === "scope" ? { type: "inside", unit: one.unit, why } : one));
    },
    async start(id, folder, env) {
      const place = await known();
      const scope =
        place.type === "scope" ? scopeCommand(place.unit, `everturn-job-${id}-${Date.now().toString(36)}`) : [];
      const [program, ...words] = [...scope, process.execPath, holderFile(), folder];
      const child = spawn(program, words, { cwd: folder, env, stdio: "ignore", detached: true, windowsHide: true });
      let end: string | null = null;
      const listeners = new Set<() => void>();
      child.once("exit", (code, signal) => {
        end = signal ?? `code ${code}`;
        for (const listener of listeners) listener();
      });
      await new Promise<void>((begun, failed) => {
        child.once("spawn", begun);
        child.once("error", (error) =>
          failed(new Fault("not-possible", `The command could not be started (${sentenceOf(error)}).`, error)),
        );
      });
      // Our own end must not wait for it.
      child.unref();
      return { ended: () => end, onEnd: (listener) => (listeners.add(listener), () => listeners.delete(listener)) };
    },
  };
}
