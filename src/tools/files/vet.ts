// Whether a file call runs as it is, asks, or is refused. A path is judged by its text alone: no link is followed here, and
// what the path really leads to is decided by the wall that the worker runs behind.

import { join, relative, resolve } from "node:path";
import type { Verdict } from "../../core/approval.ts";
import { type Grant, type PathGrant, noGrant } from "../../core/grant.ts";
import type { SandboxState } from "../../ports/sandbox.ts";
import type { VetContext } from "../../ports/tool.ts";
import { type Policy, mayHoldSecrets } from "../policy/index.ts";
import { digest } from "../digest.ts";
import { isBelow } from "./worker/paths.ts";
import type { FileWorkers } from "./workers.ts";

export type FileToolOptions = {
  readonly workers: FileWorkers;
  readonly approvals: Policy;
  /** Files and folders of the gateway itself. */
  readonly closed: readonly string[];
  /** What `~` means where there is no sandbox; null where the system knows none. */
  readonly userHome: string | null;
  /** A folder for notes on changes under way. */
  readonly notes: string;
};

export type FileToolName = "read_file" | "search_files" | "send_file" | "write_file" | "edit_file";

export type FileToolCall = {
  readonly tool: FileToolName;
  readonly path: string;
  /** All of the input: an approval is for exactly this. */
  readonly input: unknown;
  /** What is written there. */
  readonly text?: string;
};

type Wording = {
  readonly access: PathGrant["access"];
  /** The effect, as the title of a question. */
  readonly does: (path: string) => string;
  readonly why: (path: string) => string;
  /** What "always" would allow: a rule holds for a tool and a path, whatever else the call says. */
  readonly always: (path: string) => string;
};

const wordings: Readonly<Record<FileToolName, Wording>> = {
  read_file: {
    access: "read",
    does: (path) => `Reads ${path}`,
    why: (path) => `it reads ${path}`,
    always: (path) => `reading ${path}, whatever it holds`,
  },
  search_files: {
    access: "read",
    does: (path) => `Reads everything in ${path}`,
    why: (path) => `it searches ${path}`,
    always: (path) => `any search in ${path}`,
  },
  send_file: {
    access: "read",
    does: (path) => `Sends ${path} to this chat`,
    why: (path) => `it sends ${path} to this chat`,
    always: (path) => `sending ${path} to the chat, whatever it holds`,
  },
  write_file: {
    access: "write",
    does: (path) => `Overwrites ${path}`,
    why: (path) => `it writes to ${path}`,
    always: (path) => `writing any content to ${path}`,
  },
  edit_file: {
    access: "write",
    does: (path) => `Changes ${path}`,
    why: (path) => `it changes ${path}`,
    always: (path) => `any edit of ${path}`,
  },
};

/** Where a path leads, by its text: to what the person's tools see anyway, elsewhere, or where no tool goes. */
export type PathPosition = "inside" | "outside" | "gateway" | "protected";

export type PathPlaces = {
  readonly workspace: string;
  /** Files of the person's conversations, which can only be read. */
  readonly files: string;
  readonly closed: readonly string[];
  readonly isWalled: boolean;
};

/** Seen read-only inside every sandbox. */
const system = /^\/(?:usr|bin|sbin|lib[^/]*|opt|proc|sys|dev)(?:\/|$)/;
/** Written by no tool, with or without an approval: the kernel's own, and what decides who may use this machine. */
const kept =
  /^\/(?:proc|sys|dev|boot|efi)(?:\/|$)|^\/(?:private\/)?etc\/(?:passwd|shadow|gshadow|group|sudoers|sudoers\.d|pam\.d|fstab|ld\.so\.preload|crypttab)-?(?:\/|$)/i;

/** `path` is absolute, or begins with `~` inside a sandbox, where that is the person's own. */
export function positionOf(path: string, access: PathGrant["access"], places: PathPlaces): PathPosition {
  const { workspace, files, closed, isWalled } = places;
  if (path.startsWith("~")) return "inside";
  if (access === "read" && isBelow(files, path)) return "inside";
  // A workspace around the gateway's folder does not open it.
  const own = closed.find((one) => isBelow(lower(one), lower(path)));
  if (own !== undefined && !(isBelow(own, workspace) && isBelow(workspace, path))) return "gateway";
  if (isBelow(workspace, path)) return "inside";
  if (access === "write") return kept.test(path) ? "protected" : "outside";
  return isWalled && system.test(path) ? "inside" : "outside";
}

/** Some disks do not tell capitals apart, so neither does this. */
function lower(path: string): string {
  return path.normalize("NFC").toLowerCase();
}

/** The path as it is typed, without dots; `~` stays where it means a folder inside the sandbox. */
export function typedPath(typed: string, workspace: string, userHome: string | null, isWalled: boolean): string {
  if (!/^~(?=$|[/\\])/.test(typed)) return resolve(workspace, typed);
  if (isWalled) return `~${join("/", typed.slice(1))}`.replace(/\/$/, "");
  return userHome === null ? resolve(workspace, typed) : join(userHome, typed.slice(1));
}

export type FileCase = {
  readonly position: PathPosition;
  readonly access: PathGrant["access"];
  readonly policy: Policy;
  readonly state: SandboxState["type"];
  /** The opened file can be compared with what was allowed, so that a swapped link is noticed. */
  readonly canCheckOpened: boolean;
};

export type AskReason = "outside" | "unwalled-change" | "unwalled" | "every-call";

/** Null when it runs unasked. */
export function reasonToAsk({ position, access, policy, state, canCheckOpened }: FileCase): AskReason | null {
  if (position === "outside") return "outside";
  if (state !== "on" && access === "write") return "unwalled-change";
  if (state !== "on" && !canCheckOpened) return "unwalled";
  return policy === "always" ? "every-call" : null;
}

/** As the end of a sentence, and as one of its own. */
const reasons: Readonly<Record<AskReason, readonly [clause: string, sentence: string]>> = {
  outside: ["which is outside of the workspace", "It is outside of the workspace."],
  "unwalled-change": ["and there is no sandbox", "There is no sandbox here, so every change is asked for."],
  unwalled: ["and there is no sandbox", "There is no sandbox here, so everything is asked for."],
  "every-call": ["and every call is asked for", "Every call is asked for (approvals: always)."],
};

export async function vetFile(options: FileToolOptions, call: FileToolCall, context: VetContext): Promise<Verdict> {
  const { workers, userHome, closed, approvals: policy } = options;
  const { requester } = context;
  const state = await workers.checkWall(requester);
  const isWalled = state.type === "on";
  const { folder: workspace, files } = await workers.foldersOf(requester);
  const path = typedPath(call.path, workspace, userHome, isWalled);
  const { access, does, why, always } = wordings[call.tool];
  const found = positionOf(path, access, { workspace, files, closed, isWalled });
  if (found === "gateway") return refuse(`${path} belongs to the gateway itself`);
  if (found === "protected") return refuse(`${path} belongs to the operating system`);
  const isSeen = found === "outside" && isWalled && (await isVisible(options, path, access, context));
  const position = isSeen ? "inside" : found;
  const canCheckOpened = process.platform === "linux";
  const reason = reasonToAsk({ position, access, policy, state: state.type, canCheckOpened });
  if (reason === null) return { type: "run" };
  const grant: Grant = position === "outside" ? { ...noGrant, paths: [{ path, access }] } : noGrant;
  const shown = isBelow(workspace, path) ? relative(workspace, path) || "the workspace" : path;
  const what = call.text === undefined ? does(shown) : `${does(shown)}\n${call.text}`;
  const [clause, sentence] = reasons[reason];
  const effects = [
    `${does(shown)}.`,
    ...(mayHoldSecrets(path) ? ["It may hold passwords or keys."] : []),
    sentence,
    ...(context.outside ? ["This conversation holds text from outside, which may have led to this."] : []),
  ];
  const bound = digest([call.tool, path, call.input, grant]);
  return { type: "approve", why: `${why(shown)}, ${clause}`, effects, what, bound, grant, subject: always(path) };
}

function refuse(why: string): Verdict {
  return { type: "refuse", why: `Refused: ${why}, and no approval opens it to tools.` };
}

/**
 * Some files of the system are seen inside the sandbox as well, and it has a HOME and a /tmp of its own. What is looked for
 * in /tmp and is not there may be meant to be in the machine's.
 */
async function isVisible(
  { workers }: FileToolOptions,
  path: string,
  access: PathGrant["access"],
  { requester }: VetContext,
): Promise<boolean> {
  const { reply } = await workers.ask({ requester, grant: noGrant }, { op: "look", path });
  if (reply.type !== "seen") return false;
  return access === "write" ? reply.own !== null : reply.isThere || reply.own === "home";
}
