// Matrix: rooms of a homeserver, by its client-server API. The place in the stream of /sync is stored with what was
// taken from it, so nothing is missed however long we were away; every send has a transaction id made from its item, so a
// repeat is the same event. Rooms that are encrypted cannot be read, and are told so once.

import { readFile } from "node:fs/promises";
import { Fault } from "../../core/fault.ts";
import type { Address } from "../../core/message.ts";
import type { OutboxItem, SendResult } from "../../core/outbox.ts";
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
import { isBook, partsOf } from "./markup.ts";
import { body, fileContent, placeholder, replacing, textContent } from "./outbound.ts";
import { courtesy } from "./following.ts";
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
    send: (item, signal) => send(api, around, item, signal),
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
    const { user_id: user } = await api.whoami(signal);
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

/** The words first: a file that cannot be sent is told in words and holds nothing back. */
async function send(api: MatrixApi, around: Surroundings, given: OutboxItem, signal: AbortSignal): Promise<SendResult> {
  try {
    const item = await finishing(api, given, signal);
    let remoteId = item.edits ?? "";
    if (isBook(item.text)) remoteId = await sendBook(api, item, signal);
    else if (item.text !== "") {
      const sent = await api.sendEvent(item.to.chat, "m.room.message", item.id, textContent(item), signal);
      // What was placed keeps its id: whoever edits again edits the first event.
      remoteId = item.edits ?? sent;
    }
    for (const n of item.files.keys()) {
      const txn = `${item.id}.file${n}`;
      const content = await uploaded(api, around, item, n, signal);
      const sent = await api.sendEvent(item.to.chat, "m.room.message", txn, content, signal);
      if (remoteId === "") remoteId = sent;
    }
    return { type: "accepted", remoteId };
  } catch (error) {
    return sendResultOf(error);
  }
}

/** An edit of something that was taken away is seen by nobody: then the words are sent anew. */
async function finishing(api: MatrixApi, item: OutboxItem, signal: AbortSignal): Promise<OutboxItem> {
  if (item.edits === undefined || (await api.stands(item.to.chat, item.edits, signal))) return item;
  const { edits: _, ...anew } = item;
  return anew;
}

async function uploaded(api: MatrixApi, { blobs }: Surroundings, item: OutboxItem, n: number, signal: AbortSignal) {
  const file = item.files[n];
  if (file === undefined) throw new Error(`item ${item.id} has no file ${n}`);
  try {
    const bytes = await readFile(blobs.path(file.blob));
    const mxc = await api.upload(bytes, file.name, file.mime, signal);
    return fileContent({ mxc, name: file.name, mime: file.mime, bytes: bytes.byteLength }, item.to, item.hints);
  } catch (error) {
    const result = sendResultOf(error);
    if (result.type !== "refused") throw error;
    return textContent({ to: item.to, text: `The file ${file.name} could not be sent: ${result.why}` });
  }
}

/** Too long for events: a file, and its beginning to read at once. */
async function sendBook(api: MatrixApi, item: OutboxItem, signal: AbortSignal): Promise<string> {
  const bytes = Buffer.from(item.text);
  const mxc = await api.upload(bytes, "answer.md", "text/markdown", signal);
  const begin = `${item.text.slice(0, 1_000).toWellFormed()}…\n\n(The whole answer is in the file.)`;
  const words = textContent({ ...item, text: begin });
  const first = await api.sendEvent(item.to.chat, "m.room.message", item.id, words, signal);
  const file = { mxc, name: "answer.md", mime: "text/markdown", bytes: bytes.byteLength };
  const content = fileContent(file, item.to, item.hints);
  await api.sendEvent(item.to.chat, "m.room.message", `${item.id}.book`, content, signal);
  return item.edits ?? first;
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
    place: (to, hints, signal, { id }) => attempt(() => put(to, placeholder(to, hints), signal, id)),
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
