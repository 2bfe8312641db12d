// What `everturn doctor --fix` does: closes what others can read, removes markers that nobody obeys, writes a service anew.
// Nothing that somebody may want is taken away.

import { chmodSync, statSync } from "node:fs";
import { Fault, sentenceOf } from "../../core/fault.ts";
import { removeStale } from "../../host/markers.ts";
import type { Context } from "../context.ts";
import type { Fix, Told } from "./checks.ts";
import type { Findings } from "./findings.ts";

export type Fixed = { readonly fix: Fix; readonly done: string | null; readonly failed: string | null };

/** Each kind of repair once, whatever the others do. */
export async function repair(context: Context, told: readonly Told[], found: Findings): Promise<readonly Fixed[]> {
  const wanted = new Set(told.flatMap((one) => (one.level === "ok" || one.fix === null ? [] : [one.fix])));
  const fixed: Fixed[] = [];
  for (const fix of wanted) {
    try {
      fixed.push({ fix, done: await works[fix](context, found), failed: null });
    } catch (error) {
      if (!(error instanceof Fault) && !(error instanceof Error && "code" in error)) throw error;
      fixed.push({ fix, done: null, failed: sentenceOf(error) });
    }
  }
  return fixed;
}

const works: Readonly<Record<Fix, (context: Context, found: Findings) => Promise<string>>> = {
  async permissions(_, { folder, secrets }) {
    const open = [...(folder === null ? [] : [folder]), ...secrets].filter((one) => (one.mode & 0o077) !== 0);
    for (const { path } of open) chmodSync(path, statSync(path).isDirectory() ? 0o700 : 0o600);
    return `closed to others: ${open.map((one) => one.path).join(", ")}`;
  },
  async markers(context, { markers }) {
    const stale = markers.filter((one) => one.judgement === "stale");
    for (const { path } of stale) await removeStale(path, { pid: 0, startTime: null }, context.now());
    return `removed: ${stale.map((one) => one.path).join(", ")}`;
  },
  async service(context, { service }) {
    const { install } = await import("../commands/install.ts");
    const said: string[] = [];
    const flags = { home: context.flags["home"], force: true, system: service?.isSystem ?? false };
    const output = { ...context.output, out: (text: string) => void said.push(text), tty: false };
    await install({ ...context, output, flags });
    return said.join(" ").replaceAll("\n", " ");
  },
};
