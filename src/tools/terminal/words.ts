// How a command ended and what it said, in words for a model. What is too long is shown from both ends, with how to get
// the rest. Pure.

import type { JobEnd, JobSandbox, Output } from "../../ports/jobs.ts";
import { cleaned, decoded, isBinary, unfinished } from "./clean.ts";

/** So much of an output is shown: the beginning says what was done, the end how it went. */
export const shownHead = 10_000;
export const shownTail = 20_000;

export function seconds(ms: number): string {
  if (ms < 10_000) return `${(Math.max(0, ms) / 1000).toFixed(1)} s`;
  return ms < 120_000 ? `${Math.round(ms / 1000)} s` : `${Math.round(ms / 60_000)} min`;
}

export function endWords({ code, signal, how, why, tookMs, lost }: JobEnd): string {
  const because = why === null ? "" : ` (${why})`;
  const kept = lost === null ? "" : `; part of what it said could not be kept (${lost})`;
  const took = seconds(tookMs);
  switch (how) {
    case "failed":
      return `it could not be started${because}`;
    case "limit":
      return `killed${signal === null ? "" : ` by ${signal}`} because its time limit was over, after ${took}${kept}`;
    case "killed":
      return `killed${signal === null ? "" : ` by ${signal}`} after ${took}${because}${kept}`;
    case "ended":
      return `${signal === null ? codeWords(code ?? 0) : `killed by ${signal}`} after ${took}${kept}`;
  }
}

const meanings: Readonly<Record<number, string>> = {
  126: "it may not be executed",
  127: "there is no such command",
  129: "as after SIGHUP",
  130: "as after SIGINT",
  134: "as after SIGABRT",
  135: "as after SIGBUS",
  136: "as after SIGFPE",
  137: "as after SIGKILL; the machine may be short of memory",
  139: "as after SIGSEGV",
  141: "as after SIGPIPE",
  143: "as after SIGTERM",
};

function codeWords(code: number): string {
  const meaning = meanings[code];
  return meaning === undefined ? `exit code ${code}` : `exit code ${code} (${meaning})`;
}

/** `head` begins at the first byte; `tail` reaches to the last one and may overlap it. */
export function outputWords(id: string, head: Output, tail: Output): string {
  const { total } = tail;
  if (total === 0) return "";
  const sample = head.bytes.length > 0 ? head.bytes : tail.bytes;
  if (isBinary(sample)) return binaryWords(id, sample, total);
  const headEnd = head.from + head.bytes.length;
  if (headEnd >= tail.from) {
    const rest = tail.bytes.subarray(Math.max(0, headEnd - tail.from));
    return cleaned(new TextDecoder().decode(Buffer.concat([head.bytes, rest])));
  }
  const shownEnd = headEnd - unfinished(head.bytes);
  const left = tail.from - shownEnd;
  return [
    cleaned(decoded(head.bytes, { front: false, back: true })),
    `[… ${left} of ${total} bytes are left out here; read them with process {"action": "read", "id": "${id}", "from": ${shownEnd}} …]`,
    cleaned(decoded(tail.bytes, { front: true, back: false })),
  ].join("\n");
}

function binaryWords(id: string, sample: Uint8Array, total: number): string {
  const first = [...sample.subarray(0, 16)].map((byte) => byte.toString(16).padStart(2, "0")).join(" ");
  return `[It said ${total} bytes that are not text, beginning with ${first}. Send such output to a file instead (job ${id}).]`;
}

/** How it ended, and what kept it from the rest of the machine. */
export function statusWords(status: string, sandbox: JobSandbox | undefined): string {
  const way = wayWords(sandbox ?? null);
  return way === null ? status : `${status}; ${way}`;
}

function wayWords(way: JobSandbox | null): string | null {
  switch (way) {
    case "closed":
      return "in the sandbox, without network";
    case "network":
      return "in the sandbox, with network";
    case "past":
      return "outside the sandbox";
    case null:
      return null;
  }
}

/** How programs say that the sandbox was in their way. */
const refusals =
  /read-only file system|could not resolve|couldn't resolve|EAI_AGAIN|ENOTFOUND|EROFS|network is unreachable|ENETUNREACH|name resolution|name or service not known|operation not permitted|EPERM\b|no such file or directory|ENOENT|permission denied|EACCES|tunnel|proxy|ECONNREFUSED|connection refused|failed to connect/i;

/** With a word about the sandbox where it seems to have been in the way, and how to ask for more. */
export function noted(output: string, sandbox: JobSandbox | undefined, hosts: readonly string[] = []): string {
  const isInside = sandbox === "closed" || sandbox === "network";
  if (!isInside || !refusals.test(output)) return output;
  const reach = hosts.length === 0 ? "no host can be reached" : `only ${hosts.join(", ")} can be reached`;
  const note = `(This ran in a sandbox: only the workspace, HOME and /tmp exist and can be written, ${reach}, and 127.0.0.1 is this call's own, so a server and what uses it belong in one call. If that is why it failed, call terminal again with "hosts": ["example.org"] or "paths": [{"path": "/srv/x", "access": "read"}]; the user is then asked.)`;
  return `${output.trimEnd()}\n${note}`;
}

/** The status first, because a reader may stop early. */
export function resultWords(status: string, output: string): string {
  const said = output.trimEnd();
  return said === "" ? `[${status}; it said nothing]` : `[${status}]\n${said}`;
}
