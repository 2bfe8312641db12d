// The platform of our own clients: the page ("web") and `everturn chat` ("terminal"). The transcript in the store is
// the mailbox of every conversation: a send only wakes the streams that read it, so it arrives exactly once, and a
// client's message is answered for only after it is stored. Holds no text but the drafts of growing answers.

import type { Blobs } from "../../ports/blobs.ts";
import type { HttpRoute, Routes } from "../../ports/http.ts";
import type { Platform } from "../../ports/platform.ts";
import { type Hello, chatLimits } from "./api.ts";
import { account } from "./place.ts";
import type { Door, RouteParts } from "./routes.ts";
import { type Streams, type Transcript, streams } from "./streams.ts";

export type Chat = { readonly platform: Platform; readonly routes: Routes };

export function chat(
  name: string,
  transcript: Transcript,
  facts: Hello,
  /** Where the files of conversations are kept; without it none are taken. */
  blobs?: Blobs,
  settings: { readonly pingMs: number } = chatLimits,
): Chat {
  const open = streams(name, transcript, facts, settings.pingMs);
  const door: Door = { accept: null, state: "starting" };
  return { platform: toPlatform(name, open, door), routes: routesLater({ name, transcript, open, door, blobs }) };
}

/** Loaded with the first request, or when there is time. */
function routesLater(parts: RouteParts): Routes {
  const prefix = prefixOf(parts.name);
  let loading: Promise<(request: Request) => Promise<Response>> | null = null;
  return {
    prefix,
    routes: chatRoutes(prefix),
    async handle(request) {
      loading ??= import("./routes.ts").then(({ answers }) => answers(parts, prefix));
      return (await loading)(request);
    },
  };
}

function chatRoutes(prefix: string): readonly HttpRoute[] {
  const read = { method: "GET", body: "none" } as const;
  return [
    { ...read, path: prefix },
    { ...read, path: `${prefix}/:chat/messages` },
    { method: "POST", path: `${prefix}/:chat/messages`, body: { whole: chatLimits.bodyMax } },
    { ...read, path: `${prefix}/:chat/events` },
    { method: "POST", path: `${prefix}/:chat/files`, body: { stream: chatLimits.fileMax } },
    { ...read, path: `${prefix}/:chat/files/:blob`, isSigned: true },
  ];
}

function prefixOf(name: string): string {
  return `/api/chat/${encodeURIComponent(name)}`;
}

function toPlatform(name: string, open: Streams, door: Door): Platform {
  return {
    name,
    account,
    can: { keyedSend: true, draftEveryMs: 50 },
    // Our own stream carries any length; nothing has to be cut.
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
      open.closeAll();
    },
    send(item) {
      open.draft(item.to.chat, null);
      open.wake(item.to.chat);
      return Promise.resolve({ type: "accepted", remoteId: item.id });
    },
    draft(to, text) {
      if (door.accept === null) return;
      open.draft(to.chat, text);
      // Words of one that was stopped may stand in the transcript by now.
      if (text === null) open.wake(to.chat);
    },
  };
}
