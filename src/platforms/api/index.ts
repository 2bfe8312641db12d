// The platform of programs: an OpenAI-compatible server at /v1, on the gateway's own port. As with our own clients, the
// transcript in the store is the mailbox: a send only wakes the requests that wait, so it arrives exactly once, and a
// request repeated under its key finds the one answer whatever died in between.

import { Fault } from "../../core/fault.ts";
import type { PersonBlobs } from "../../ports/blobs.ts";
import type { Models } from "../../ports/agent.ts";
import type { HttpRoute, Routes } from "../../ports/http.ts";
import type { Platform, Surroundings } from "../../ports/platform.ts";
import type { Reading } from "./given/answers.ts";
import { account, apiLimits } from "./api.ts";
import type { Key } from "./callers.ts";
import { refuse } from "./faults.ts";
import { type Rooms, rooms } from "./given/rooms.ts";
import type { Door, Parts } from "./routes.ts";

export type ApiSettings = {
  /** Named callers; the holder of the control token is one too, on this machine. */
  readonly keys: readonly Key[];
  /** The files that were sent to a caller, and no others. */
  readonly filesOf: (caller: string) => PersonBlobs;
  readonly pingMs?: number;
  readonly holdMs?: number;
  /** What callers may name; undefined where the agent has no models. */
  readonly models?: () => Models | undefined;
};

export type Api = { readonly platform: Platform; readonly routes: Routes };

export function api(settings: ApiSettings, around: Surroundings & Reading): Api {
  const {
    keys,
    filesOf,
    pingMs = apiLimits.pingMs,
    holdMs = apiLimits.streamHoldMs,
    models = () => undefined,
  } = settings;
  const open = rooms(pingMs);
  const door: Door = { accept: null, state: "starting" };
  const { archive, store, troubleOf, blobs, world } = around;
  const parts: Parts = { archive, store, troubleOf, blobs, filesOf, world, keys, door, rooms: open, models, holdMs };
  const routes: Routes = {
    prefix: "/v1",
    auth: "own",
    routes: apiRoutes,
    refuse: ({ status, code, message }) => refuse({ status, code: code.replaceAll("-", "_"), message }),
    async admit(request, caller) {
      const { admit } = await import("./routes.ts");
      return admit(keys, request, caller);
    },
    async handle(request, caller) {
      // Loaded with the first request: a start does not pay for it.
      const { answer } = await import("./routes.ts");
      return answer(parts, request, caller);
    },
  };
  return { platform: toPlatform(open, door, filesOf), routes };
}

/** After which a disk that refused a file is tried again. */
const retryMs = 1_000;

const read = { method: "GET", body: "none" } as const;

const apiRoutes: readonly HttpRoute[] = [
  { method: "POST", path: "/v1/chat/completions", body: { whole: apiLimits.bodyMax } },
  { ...read, path: "/v1/chat/completions/:id" },
  { ...read, path: "/v1/models" },
  { ...read, path: "/v1/models/:model" },
  // Names of models have slashes, and not every client escapes them.
  { ...read, path: "/v1/models/:provider/:model" },
  { ...read, path: "/v1/models/:provider/:maker/:model" },
  { ...read, path: "/v1/sessions/:session/messages" },
  { ...read, path: "/v1/files/:blob/content" },
];

function toPlatform(open: Rooms, door: Door, filesOf: ApiSettings["filesOf"]): Platform {
  return {
    name: "api",
    account,
    can: { keyedSend: true, draftEveryMs: 50 },
    // A request carries any length; nothing has to be cut.
    parts: (text) => [text],
    async listen(inlet, _from, signal) {
      if (!signal.aborted) {
        door.accept = inlet.accept;
        door.state = "starting";
        open.open();
        inlet.up();
        await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
      }
      door.accept = null;
      door.state = "stopping";
      open.close();
    },
    send(item) {
      try {
        // The caller may have them from now on, and no other caller.
        for (const { blob } of item.files) filesOf(item.to.chat).path(blob);
      } catch (error) {
        if (!(error instanceof Fault)) throw error;
        return Promise.resolve({ type: "retry", afterMs: retryMs, why: error.message });
      }
      open.wake(item.to);
      return Promise.resolve({ type: "accepted", remoteId: item.id });
    },
    draft(to, text) {
      open.draft(to, text);
    },
  };
}
