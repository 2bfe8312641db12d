// The writer thread: once it stands, its connection is the only one that writes. It takes everything that waits, commits it in one transaction and
// answers in the same order. When nothing has come for a while it fills the search index and moves the log into the file.

import { type MessagePort, isMainThread, parentPort, receiveMessageOnPort, workerData } from "node:worker_threads";
import { Fault, type FaultCode } from "../../core/fault.ts";
import { type Commit, applier } from "./apply.ts";
import { openFurther, toFault } from "./file/connect.ts";

import { type Order, obey } from "./orders.ts";

/** Requests are answered in the order they came. */
export type Request = { readonly commits: readonly Commit[] } | { readonly order: Order } | { readonly close: true };
/** An error cannot keep its fields between threads, so a fault travels as plain data. */
export type FaultNote = { readonly code: FaultCode; readonly message: string };
/** An empty one says that the store is open. A commit's answer is a word, an order's a number. */
export type Reply =
  | { readonly answers: readonly (string | number | FaultNote)[] }
  | { readonly failed: FaultNote }
  | { readonly closed: true };

/** Short enough to keep up, long enough never to stand in the way of a turn. */
const idleMs = 250;
const indexedAtOnce = 200;

export function serve(port: MessagePort, file: string): void {
  const db = openFurther(file);
  const apply = applier(db);
  let idle: NodeJS.Timeout | undefined;
  let dirty = true;

  function take(first: Request): void {
    const commits: Commit[] = [];
    const answers: (string | number | FaultNote)[] = [];
    const flush = () => {
      for (const outcome of apply(commits.splice(0)))
        answers.push(outcome instanceof Error ? toNote(outcome, file) : outcome);
    };
    let closing = false;
    for (let request: Request | undefined = first; request !== undefined; request = nextWaiting(port)) {
      if ("commits" in request) {
        commits.push(...request.commits);
        continue;
      }
      flush();
      if ("order" in request) answers.push(answerTo(request.order));
      else closing = true;
    }
    flush();
    dirty = true;
    port.postMessage({ answers } satisfies Reply);
    if (closing) close();
    else rest();
  }

  function answerTo(order: Order): number | FaultNote {
    try {
      return obey(db, order);
    } catch (error) {
      return toNote(error, file);
    }
  }

  function rest(): void {
    if (idle === undefined) idle = setTimeout(work, idleMs).unref();
    else idle.refresh();
  }

  /** A failure here is no news: the next commit meets the same disk and reports it. */
  function work(): void {
    if (!dirty) return;
    dirty = answerTo({ type: "index", limit: indexedAtOnce }) === indexedAtOnce;
    if (dirty) rest();
    else answerTo({ type: "checkpoint" });
  }

  function close(): void {
    clearTimeout(idle);
    db.close();
    port.postMessage({ closed: true } satisfies Reply);
    port.close();
  }

  port.on("message", take);
  port.postMessage({ answers: [] } satisfies Reply);
  rest();
}

function toNote(error: unknown, file: string): FaultNote {
  const { code, message } = error instanceof Fault ? error : toFault(error, file);
  return { code, message };
}

function nextWaiting(port: MessagePort): Request | undefined {
  return receiveMessageOnPort(port)?.message as Request | undefined;
}

if (!isMainThread && parentPort !== null && typeof workerData?.everturnStore === "string") {
  try {
    serve(parentPort, workerData.everturnStore);
  } catch (error) {
    parentPort.postMessage({ failed: toNote(error, workerData.everturnStore) } satisfies Reply);
  }
}
