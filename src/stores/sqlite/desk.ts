// The main thread's side of writing. All commits of one tick travel together; promises are answered in order. Two desks
// behind one type: a writer thread for the product, and the same code inline for the simulator, which owns time.

import { Worker } from "node:worker_threads";
import type { DatabaseSync } from "node:sqlite";
import type { CommitResult } from "../../core/change.ts";
import { Fault } from "../../core/fault.ts";
import { type Commit, applier } from "./apply.ts";
import { toFault } from "./file/connect.ts";
import { type Order, obey } from "./orders.ts";
import type { FaultNote, Reply, Request } from "./writer.ts";

export interface Desk {
  commit(commit: Commit): Promise<CommitResult>;
  order(order: Order): Promise<number>;
  close(): Promise<void>;
}

/**
 * Commits of one tick travel together, but not more than this: the disk is to work while a long tick is still being
 * computed. Whatever waits when the writer is free shares one transaction in any case.
 */
const togetherMax = 16;

/** The commits of a recovery, which nothing else competes with. */
const recoveryCommits = 2;

type Waiting = { readonly resolve: (answer: never) => void; readonly reject: (error: Error) => void };

/** What the writer makes is gone with its commit; more room would only be filled with what nobody needs any more. */
const maxYoungGenerationSizeMb = 4;

/**
 * Commits go through the thread as soon as it stands. Until then they are made here and now: starting a thread takes
 * longer than opening the store and taking over what a dead gateway left, and nothing else is going on yet.
 */
export function openThreadDesk(db: DatabaseSync, file: string): Desk {
  const worker = new Worker(writerUrl(), {
    workerData: { everturnStore: file },
    resourceLimits: { maxYoungGenerationSizeMb },
  });
  const here = openInlineDesk(db, file);
  const waiting: Waiting[] = [];
  const closed = Promise.withResolvers<void>();
  let outgoing: Commit[] = [];
  let isThere = false;
  let made = 0;
  let isClosing = false;
  let gone: Fault | null = null;

  /** Nothing can be written any more in this life; the next start takes everything up. */
  function lost(why: string): Fault {
    return new Fault("store-broken", `The writer of ${file} is gone (${why}). Start the gateway again.`);
  }

  function fail(error: Fault): void {
    gone ??= error;
    for (const one of waiting.splice(0)) one.reject(gone);
    closed.resolve();
  }

  function moveIn(): void {
    isThere = true;
    db.exec("PRAGMA query_only = 1");
  }

  worker.on("message", (reply: Reply) => {
    if ("failed" in reply) return fail(lost(reply.failed.message));
    if ("closed" in reply) return closed.resolve();
    if (!isThere) moveIn();
    for (const answer of reply.answers) {
      const one = waiting.shift();
      if (typeof answer === "object") one?.reject(fromNote(answer));
      else one?.resolve(answer as never);
    }
  });
  worker.on("error", (error) => fail(lost(String(error))));
  worker.on("exit", () => fail(isClosing ? new Fault("store-closed", `${file} is closed`) : lost("its thread ended")));

  function post(): void {
    if (outgoing.length === 0) return;
    const commits = outgoing;
    outgoing = [];
    worker.postMessage({ commits } satisfies Request);
  }

  function enter<T>(send: () => void): Promise<T> {
    if (gone !== null) return Promise.reject(gone);
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    waiting.push({ resolve, reject });
    send();
    return promise;
  }

  return {
    commit(commit) {
      if (!isThere && gone === null)
        return ++made > recoveryCommits ? afterwards(here.commit(commit)) : here.commit(commit);
      return enter(() => {
        outgoing.push(commit);
        if (outgoing.length === 1) setImmediate(post);
        else if (outgoing.length === togetherMax) post();
      });
    },
    order(order) {
      if (!isThere && gone === null) return here.order(order);
      return enter(() => {
        post();
        worker.postMessage({ order } satisfies Request);
      });
    },
    async close() {
      isClosing = true;
      if (gone === null && isThere) {
        post();
        worker.postMessage({ close: true } satisfies Request);
        await closed.promise;
      }
      await worker.terminate();
    },
  };
}

/** Lets the event loop turn, so that the thread's first word is heard however busy the start is. */
async function afterwards<T>(done: Promise<T>): Promise<T> {
  const answer = await done;
  await new Promise((resolve) => setImmediate(resolve));
  return answer;
}

/** No thread and no waiting: for the simulator, where every moment belongs to the virtual clock. */
export function openInlineDesk(db: DatabaseSync, file: string): Desk {
  const apply = applier(db);
  return {
    async commit(commit) {
      const [outcome] = apply([commit]);
      if (outcome instanceof Error) throw toFault(outcome, file);
      return outcome ?? "conflict";
    },
    async order(order) {
      try {
        return obey(db, order);
      } catch (error) {
        throw error instanceof Fault ? error : toFault(error, file);
      }
    },
    close: async () => undefined,
  };
}

/** From the sources the writer is this folder's file; in the bundle it is an entry of its own beside the others. */
function writerUrl(): URL {
  const here = import.meta.url;
  return new URL(here.endsWith(".ts") ? "./writer.ts" : "./writer.js", here);
}

function fromNote(note: FaultNote): Fault {
  return new Fault(note.code, note.message);
}
