// The platform of webhooks: signed calls come in at /hooks/<name>, answers go to where the hook says, with a key under which
// a repeat is seen once by a receiver that keeps keys.

import type { Routes } from "../../ports/http.ts";
import type { Platform, Surroundings } from "../../ports/platform.ts";
import { type Hook, account, hookLimits } from "./api.ts";
import type { Door, Parts } from "./routes.ts";
import type { Sending } from "./send.ts";

export type Hooks = { readonly platform: Platform; readonly routes: Routes };

export function hooks(all: readonly Hook[], around: Surroundings & Pick<Sending, "gateway">): Hooks {
  const { blobs, world, gateway } = around;
  const door: Door = { accept: null, state: "starting" };
  const parts: Parts = { hooks: all, door, blobs, world };
  const sending: Sending = { hooks: all, blobs, world, gateway, pages: new Map() };
  const routes: Routes = {
    prefix: "/hooks",
    auth: "own",
    routes: [{ method: "POST", path: "/hooks/:name", body: { whole: hookLimits.bodyMax } }],
    async admit(request) {
      const { admit } = await import("./routes.ts");
      return admit(parts, request);
    },
    async handle(request) {
      const { answer } = await import("./routes.ts");
      return answer(parts, request);
    },
  };
  return { platform: toPlatform(door, sending), routes };
}

function toPlatform(door: Door, sending: Sending): Platform {
  return {
    name: "hooks",
    account,
    can: { keyedSend: true, draftEveryMs: null },
    // A request carries any length; nothing has to be cut.
    parts: (text) => [text],
    async listen(inlet, _from, signal) {
      if (!signal.aborted) {
        door.accept = inlet.accept;
        door.state = "starting";
        inlet.up();
        await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
      }
      door.accept = null;
      door.state = "stopping";
    },
    async send(item, signal) {
      const { send } = await import("./send.ts");
      return send(sending, item, signal);
    },
    draft: () => undefined,
  };
}
