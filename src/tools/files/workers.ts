// The file workers of all people: one warm process per person inside their sandbox, ended when idle; and one-shot ones
// that have a granted folder bound. Where there is no sandbox, the same program runs without a wall and checks what it
// opened.

import type { ChildProcess, SpawnOptions } from "node:child_process";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { Fault } from "../../core/fault.ts";
import { type Grant, type PathGrant, noGrant } from "../../core/grant.ts";
import type { Requester } from "../../core/requester.ts";
import { orAborted } from "../../core/running/aborted.ts";
import type { Sandbox, SandboxState, SandboxView } from "../../ports/sandbox.ts";
import type { Workspace } from "../../ports/workspaces.ts";
import { type Delay, type FileWorker, WorkerLost, openFileWorker } from "./process.ts";
import type { FileReplyFrame, FileRequest, FileScope } from "./protocol.ts";
import { isThere } from "./worker/paths.ts";

export type FileWorkersOptions = {
  readonly sandbox: Sandbox;
  /** The folders that the person works in. */
  readonly workspaceFor: (requester: Requester) => Promise<PersonWorkspace>;
  /** Files and folders of the gateway itself. */
  readonly closed: readonly string[];
  /** Starts a program in a group of its own. */
  readonly spawn: (program: string, words: readonly string[], options: SpawnOptions) => ChildProcess;
  /** Whether a worker without a sandbox may run as root. */
  readonly allowRoot: boolean;
  /** For a worker without a sandbox. */
  readonly environment: Readonly<Record<string, string>>;
  readonly delay?: Delay;
  readonly limits?: Partial<WorkerLimits>;
  /** The program; by default the worker that belongs to this version. */
  readonly program?: string;
};

export type PersonWorkspace = Pick<Workspace, "person" | "folder" | "files">;

export type WorkerLimits = { readonly workers: number; readonly idleMs: number; readonly replyMs: number };

const defaults: WorkerLimits = { workers: 16, idleMs: 60_000, replyMs: 60_000 };

/** On whose behalf, with what beyond the usual view. */
export type FileCaller = { readonly requester: Requester; readonly grant: Grant };

export interface FileWorkers {
  /** Runs `work` with a worker of this caller. Rejects with a Fault where there may be none. */
  use<T>(caller: FileCaller, work: (worker: FileWorker) => Promise<T>): Promise<T>;
  /** One request with one reply, and without an effect: repeated once when the worker dies under it. */
  ask(caller: FileCaller, request: FileRequest, signal?: AbortSignal): Promise<FileReplyFrame>;
  /** The SHA-256 of a file as the person's commands see it; null when they see no such file. */
  digestFile(requester: Requester, path: string): Promise<string | null>;
  foldersOf(requester: Requester): Promise<PersonWorkspace>;
  /** Rejects with a Fault where this person may not use files here. */
  checkWall(requester: Requester): Promise<SandboxState>;
  state(): Promise<SandboxState>;
  readonly count: number;
  close(): void;
}

type Slot = {
  worker: FileWorker | null;
  /** Whose it is; null for a one-shot worker. */
  readonly key: string | null;
  users: number;
  lastUsed: number;
  cancelIdle: () => void;
};
type Held = { readonly slot: Slot; readonly ready: Promise<FileWorker> };

export function openFileWorkers(options: FileWorkersOptions): FileWorkers {
  const limits = { ...defaults, ...options.limits };
  const delay = options.delay ?? realDelay;
  const slots = new Set<Slot>();
  const warm = new Map<string, Held>();
  const queue: (() => void)[] = [];
  let clock = 0;
  let isClosed = false;

  const isIdle = ({ users, worker }: Slot): boolean => users === 0 && worker !== null && worker.calls === 0;

  function free(slot: Slot): void {
    slot.cancelIdle();
    if (!slots.delete(slot)) return;
    if (slot.key !== null && warm.get(slot.key)?.slot === slot) warm.delete(slot.key);
    queue.shift()?.();
  }

  function end(slot: Slot, why: string): void {
    slot.worker?.end(why);
    free(slot);
  }

  /** A place for one more process. The one that is idle the longest makes room; else it waits for one to end. */
  async function takeSlot(key: string | null): Promise<Slot> {
    while (slots.size >= limits.workers) {
      const [oldest] = [...slots].filter(isIdle).toSorted((a, b) => a.lastUsed - b.lastUsed);
      if (oldest !== undefined) end(oldest, "room is needed for another one");
      else await new Promise<void>((resolve) => queue.push(resolve));
    }
    if (isClosed) throw stopping();
    const slot: Slot = { worker: null, key, users: 1, lastUsed: clock++, cancelIdle: () => undefined };
    slots.add(slot);
    return slot;
  }

  function rest(slot: Slot): void {
    if (!isIdle(slot)) return;
    slot.cancelIdle();
    if (slot.key === null || isClosed) return end(slot, "its work is done");
    slot.lastUsed = clock++;
    slot.cancelIdle = delay(limits.idleMs, () => end(slot, "it was idle"));
    queue.shift()?.();
  }

  async function start(slot: Slot, caller: FileCaller): Promise<FileWorker> {
    try {
      const { child, scope } = await launch(options, caller);
      const worker = openFileWorker({ child, scope, delay, replyMs: limits.replyMs, idle: () => rest(slot) });
      slot.worker = worker;
      void worker.gone.then(() => free(slot));
      return worker;
    } catch (error) {
      free(slot);
      throw error;
    }
  }

  function joined(held: Held): Held {
    held.slot.users++;
    held.slot.cancelIdle();
    return held;
  }

  async function warmOne(requester: Requester): Promise<Held> {
    const folders = await options.workspaceFor(requester);
    const key = JSON.stringify([folders.person, folders.folder]);
    const known = warm.get(key);
    if (known !== undefined) return joined(known);
    const slot = await takeSlot(key);
    // Another call of the same person may have started one while this one waited.
    const started = warm.get(key);
    if (started !== undefined) {
      free(slot);
      return joined(started);
    }
    const held = { slot, ready: start(slot, { requester, grant: noGrant }) };
    warm.set(key, held);
    return held;
  }

  async function oneShot(caller: FileCaller): Promise<Held> {
    const slot = await takeSlot(null);
    return { slot, ready: start(slot, caller) };
  }

  async function checkWall(requester: Requester): Promise<SandboxState> {
    const state = await options.sandbox.state();
    const isRoot = process.geteuid?.() === 0;
    refuseWithoutWall(state, requester, { isRoot, allowRoot: options.allowRoot });
    return state;
  }

  async function use<T>(caller: FileCaller, work: (worker: FileWorker) => Promise<T>): Promise<T> {
    if (isClosed) throw stopping();
    await checkWall(caller.requester);
    const { slot, ready } = await (caller.grant.paths.length === 0 ? warmOne(caller.requester) : oneShot(caller));
    try {
      return await work(await ready);
    } finally {
      slot.users--;
      rest(slot);
    }
  }

  async function ask(caller: FileCaller, request: FileRequest, signal?: AbortSignal): Promise<FileReplyFrame> {
    const once = (): Promise<FileReplyFrame> => use(caller, (worker) => firstReply(worker, request, signal));
    try {
      return await once();
    } catch (error) {
      if (!(error instanceof WorkerLost)) throw error;
      signal?.throwIfAborted();
      return once();
    }
  }

  return {
    use,
    ask,
    foldersOf: options.workspaceFor,
    checkWall,
    state: () => options.sandbox.state(),
    get count() {
      return slots.size;
    },
    async digestFile(requester, path) {
      const { reply } = await ask({ requester, grant: noGrant }, { op: "digest", path, draft: null });
      return reply.type === "digest" ? reply.digest : null;
    },
    close() {
      isClosed = true;
      for (const slot of slots) end(slot, "the gateway stops");
      for (const wake of queue.splice(0)) wake();
    },
  };
}

function stopping(): Fault {
  return new Fault("stopping", "The gateway is stopping.");
}

async function firstReply(
  worker: FileWorker,
  request: FileRequest,
  signal: AbortSignal | undefined,
): Promise<FileReplyFrame> {
  signal?.throwIfAborted();
  const call = worker.call(request);
  try {
    return await (signal === undefined ? call.next() : orAborted(call.next(), signal));
  } finally {
    call.drop();
  }
}

function realDelay(ms: number, work: () => void): () => void {
  const timer = setTimeout(work, ms);
  timer.unref();
  return () => clearTimeout(timer);
}

export type RootUse = { readonly isRoot: boolean; readonly allowRoot: boolean };

/** Without a wall only those may come who could do the same at the machine itself, and not with all its rights. */
export function refuseWithoutWall(state: SandboxState, { party }: Requester, { isRoot, allowRoot }: RootUse): void {
  const refuse = (why: string) => {
    throw new Fault("not-possible", why);
  };
  if (state.type === "missing") refuse(`File tools are off. ${state.why}`);
  if (state.type !== "off") return;
  if (party === "person") {
    refuse("There is no sandbox on this machine, so only its owner and admins may use file tools.");
  }
  if (isRoot && !allowRoot) {
    const advice = "Install bubblewrap, run the gateway as another user, or set agent.tools.allowRoot: true.";
    refuse(`File tools are off, because the gateway runs as root without a sandbox. ${advice}`);
  }
}

type Launched = { readonly child: ChildProcess; readonly scope: FileScope };

async function launch(options: FileWorkersOptions, { requester, grant }: FileCaller): Promise<Launched> {
  const { sandbox, closed } = options;
  const { person, folder: workspace, files } = await options.workspaceFor(requester);
  const state = await sandbox.state();
  const paths = grant.paths.map(({ path }) => path);
  const reach = { workspace, readable: [files], closed };
  if (state.type !== "on") {
    const words = [options.program ?? ownProgram()];
    const child = options.spawn(process.execPath, words, { env: options.environment, cwd: workspace });
    return { child, scope: { ...reach, writable: [], only: paths, isWalled: false } };
  }
  const bound = await Promise.all(grant.paths.map(bindable));
  const view: SandboxView = {
    person,
    workspace,
    cwd: workspace,
    grant: { ...noGrant, paths: bound },
    home: bound.length === 0 ? "person" : "empty",
    files,
    env: {},
  };
  const { node, folder } = sandbox.runtime;
  const command = [node, options.program ?? join(folder, programInPackage())] as const;
  const { program, words, env } = await sandbox.wrap(command, view);
  const writable = bound.filter(({ access }) => access === "write").map(({ path }) => path);
  const only = paths.length === 0 ? null : paths;
  return {
    child: options.spawn(program, words, { env }),
    scope: { ...reach, writable, only, isWalled: true },
  };
}

/** As the sandbox can bind it: a file to be made is reached through the nearest folder that exists. */
async function bindable(one: PathGrant): Promise<PathGrant> {
  if (await isThere(one.path)) return one;
  if (one.access === "read") throw new Fault("not-found", `${one.path} does not exist.`);
  let folder = dirname(one.path);
  while (!(await isThere(folder))) folder = dirname(folder);
  return { ...one, path: folder };
}

const isSource = import.meta.url.endsWith(".ts");

/** From the sources it is a file below; in the bundle it is an entry of its own beside the others. */
function ownProgram(): string {
  return fileURLToPath(new URL(isSource ? "./worker/main.ts" : "./file-worker.js", import.meta.url));
}

function programInPackage(): string {
  return isSource ? "src/tools/files/worker/main.ts" : "dist/file-worker.js";
}
