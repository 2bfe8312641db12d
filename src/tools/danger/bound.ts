// Binds an approval to exactly what was shown: the arguments, the folder, the sandbox, and the content of the scripts that
// would run. If any of it is another one when the answer comes, the digest is too, and the call is asked for again.

import { createHash } from "node:crypto";
import { open } from "node:fs/promises";
import { scriptsOf } from "./script.ts";

export type Parts = {
  readonly input: unknown;
  readonly cwd?: string;
  /** How it would be kept from the rest of the machine. */
  readonly sandbox?: unknown;
  /** Content of each script that would run; null for one that could not be read. */
  readonly scripts?: Readonly<Record<string, string | null>>;
};

export function boundTo(parts: Parts): string {
  return sha256(canonical(parts));
}

/** The same text for the same value, in whatever order its members were written. */
export function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map((one) => canonical(one)).join(",")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value) ?? "null";
  const members = Object.entries(value)
    .filter(([, one]) => one !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, one]) => `${JSON.stringify(key)}:${canonical(one)}`);
  return `{${members.join(",")}}`;
}

/** Of a larger script only this much is read, together with its size and the time of its last change. */
const readMax = 4 * 1024 * 1024;

export type Bindable = {
  readonly command: string;
  readonly input: unknown;
  readonly cwd: string;
  readonly sandbox: unknown;
  readonly userHome: string | null;
};

/** Reads the scripts that the command would run, and binds to them as they are now. */
export async function bindCommand({ command, input, cwd, sandbox, userHome }: Bindable): Promise<string> {
  const files = scriptsOf(command, cwd, userHome);
  const contents = await Promise.all(files.map(async (file) => [file, await contentOf(file)] as const));
  return boundTo({ input, cwd, sandbox, scripts: Object.fromEntries(contents) });
}

/** A digest of the file as it is now; null when it cannot be read, which is a state of it too. */
async function contentOf(file: string): Promise<string | null> {
  try {
    const handle = await open(file, "r");
    try {
      const stat = await handle.stat();
      // Reading a pipe or a device would wait, or never end.
      if (!stat.isFile()) return null;
      const buffer = Buffer.alloc(Math.min(stat.size, readMax));
      const { bytesRead } = await handle.read(buffer, 0, buffer.length, 0);
      const rest = stat.size > readMax ? ` ${stat.size} ${stat.mtimeMs}` : "";
      return sha256(buffer.subarray(0, bytesRead)) + rest;
    } finally {
      await handle.close();
    }
  } catch {
    return null;
  }
}

function sha256(data: string | Buffer): string {
  return createHash("sha256").update(data).digest("hex");
}
