// Matrix: rooms of a homeserver, by its client-server API. The place in the stream of /sync is stored with what was
// taken from it, so nothing is missed however long we were away; every send has a transaction id made from its item, so a
// repeat is the same event. Rooms that are encrypted cannot be read, and are told so once.

import { Fault } from "../../core/fault.ts";
import type { Address } from "../../core/message.ts";
import type { SendResult } from "../../core/outbox.ts";
import { orAborted } from "../../core/running/aborted.ts";
import {
  type DraftMessages,
  type Inlet,
  type Platform,
  type Streaming,
  type Surroundings,
  previewsFor,
} from "../../ports/platform.ts";
import { type MatrixApi, matrixApi } from "./api.ts";
import { listenFault, sendResultOf } from "./faults.ts";
import { partsOf } from "./markup.ts";
import { body, placeholder, replacing } from "./outbound.ts";
import { courtesy, limited } from "./following.ts";
import { find, isForgotten, send } from "./send.ts";
import { follow } from "./stream.ts";

export type MatrixSettings = {
  readonly homeserver: string;
  /** The account's whole id, such as @bot:example.org. */
  readonly user: string;
  readonly token: string;
  readonly streaming: Streaming;
};

/** Edits are events of their own, which every server and client keeps. */
const draftEveryMs = 2_000;
const typingMs = 8_000;
const probeMs = 5_000;

export function matrix(settings: MatrixSettings, around: Surroundings): Platform {
  const api = matrixApi(settings.homeserver, settings.token);
  const account = settings.user;
  /** Aborted when the gateway stops listening; typing ends with it. */
  let listening = new AbortController().signal;
  return {
    name: "matrix",
    account,
    can: {
      keyedSend: true,
      ...previewsFor(settings.streaming, draftEveryMs),
      // Homeservers differ widely; how much this one takes is learned from its refusals.
      // Each server has limits of its own; a default Synapse takes ten at once and then one every five seconds.
      pace: { perSecond: 5, chatEveryMs: 500, chatBurst: 3, learns: true },
      isFar: true,
    },
    parts: partsOf,
    listen(inlet, from, signal) {
      listening = signal;
      return listen(api, settings, around, inlet, from, signal);
    },
    send: (item, signal, confirm) => send({ api, ...around }, item, signal, confirm),
    draft: () => undefined,
    ...(settings.streaming === false ? {} : { drafts: draftsOf(api, around) }),
    typing(to) {
      const limit = AbortSignal.any([listening, AbortSignal.timeout(typingMs)]);
      void courtesy(around.world, "typing", api.typing(to.chat, settings.user, typingMs, limit));
    },
    async ping(signal) {
      await api.whoami(signal).catch((error: unknown) => {
        throw listenFault(error, settings.homeserver);
      });
    },
    async probe(signal) {
      const limited = AbortSignal.any([signal, AbortSignal.timeout(probeMs)]);
      try {
        const { user_id } = await api.whoami(limited);
        return `logged in as ${user_id} at ${settings.homeserver}`;
      } catch (error) {
        throw listenFault(error, settings.homeserver);
      }
    },
  };
}

async function listen(
  api: MatrixApi,
  settings: MatrixSettings,
  around: Surroundings,
  inlet: Inlet,
  from: string | null,
  signal: AbortSignal,
): Promise<void> {
  if (signal.aborted) return;
  try {
    const { user_id: user } = await api.whoami(limited(signal));
    if (user !== settings.user)
      throw new Fault(
        "denied",
        `The token in platforms.matrix.token belongs to ${user}, not to ${settings.user}. Set platforms.matrix.user to ${user}, or use the other account's token.`,
      );
    // Who has to end does not wait for what is being stored: it comes again from the stored place.
    const following = follow({ api, self: { user, account: settings.user }, around, inlet }, from, signal);
    await orAborted(following, signal);
  } catch (error) {
    if (signal.aborted) return;
    throw listenFault(error, settings.homeserver);
  }
}

function draftsOf(api: MatrixApi, { world }: Surroundings): DraftMessages {
  const attempt = async (work: () => Promise<string>): Promise<SendResult> => {
    try {
      return { type: "accepted", remoteId: await work() };
    } catch (error) {
      return sendResultOf(error);
    }
  };
  const put = (to: Address, content: object, signal: AbortSignal, txn = `draft-${world.id()}`) =>
    api.sendEvent(to.chat, "m.room.message", txn, content, signal);
  return {
    isKeyed: true,
    place: (to, hints, signal, { id, placedSince }) =>
      attempt(async () => {
        const isLost = placedSince !== null && isForgotten(placedSince, world.now());
        const there = isLost ? await find(api, { to, createdAt: placedSince }, id, signal) : null;
        return there ?? put(to, placeholder(to, hints), signal, id);
      }),
    fill: (to, remoteId, text, signal) =>
      attempt(async () => {
        await put(to, replacing(body(partsOf(text)[0] ?? ""), remoteId), signal);
        return remoteId;
      }),
    remove: (to, remoteId, signal) =>
      attempt(async () => {
        await api.redact(to.chat, remoteId, `remove-${remoteId}`, signal);
        return remoteId;
      }),
  };
}
