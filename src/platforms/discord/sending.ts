// Sends items: as new messages under a key, or as the last edit of a draft. What may have arrived so long ago that Discord
// has forgotten its key is looked for in the channel before it is sent again.

import { sentenceOf } from "../../core/fault.ts";
import type { OutboxItem, SendResult } from "../../core/outbox.ts";
import type { Surroundings } from "../../ports/platform.ts";
import type { APIMessage } from "discord-api-types/v10";
import type { Api, Upload } from "./api.ts";
import { isGone, isTooLarge, resultOf } from "./faults.ts";
import { type Sought, channelOf, editBody, isIt, lookFrom, mustLook, sendBody, wanted } from "./outbound.ts";
import { textMax } from "./markup.ts";

export type Sending = Surroundings & { readonly api: Api; readonly account: string };

/** As many files as one message holds. */
const filesMax = 10;
/** What a channel can hold between a doubt and a look; more is not turned over. */
const pagesMax = 20;

/** So many messages are remembered as some item's own. */
const knownMax = 1_000;

type Parcel = Sought;

export function sender(sending: Sending): (item: OutboxItem, signal: AbortSignal) => Promise<SendResult> {
  const { api, world } = sending;
  /** Messages and the items that they are. A twin of an item, with the same words and files, is not it. */
  const known = new Map<string, string>();

  async function deliver(item: OutboxItem, parcel: Parcel, signal: AbortSignal): Promise<string> {
    const channel = channelOf(item.to);
    const { content, uploads } = parcel;
    if (item.edits !== undefined) {
      try {
        const names = uploads.map(({ name }) => name);
        return (await api.edit(channel, item.edits, editBody(item, content, names), uploads, signal)).id;
      } catch (error) {
        if (!isGone(error)) throw error;
      }
    }
    const there = mustLook(item, world.now()) ? await find(item, parcel, signal) : null;
    return there ?? (await api.send(channel, sendBody(item, content), uploads, signal)).id;
  }

  /** The message that an earlier send of this item has made; null when there is none. */
  async function find(item: OutboxItem, parcel: Parcel, signal: AbortSignal): Promise<string | null> {
    const isFree = ({ id }: { readonly id: string }): boolean => (known.get(id) ?? item.id) === item.id;
    const isThis = (one: APIMessage): boolean => isFree(one) && isIt(one, item, sending.account, parcel);
    return search(api, { channel: channelOf(item.to), after: lookFrom(item) }, isThis, signal);
  }

  function accepted(item: OutboxItem, remoteId: string | undefined): SendResult {
    if (remoteId === undefined) return { type: "unknown", why: "Discord's answer names no message" };
    known.set(remoteId, item.id);
    const [oldest] = known.keys();
    if (known.size > knownMax && oldest !== undefined) known.delete(oldest);
    return { type: "accepted", remoteId };
  }

  return async (item, signal) => {
    if (signal.aborted) return { type: "retry", afterMs: 0, why: "its time was over before it began" };
    const parcel = await pack(item, sending);
    try {
      return accepted(item, await deliver(item, parcel, signal));
    } catch (error) {
      if (!isTooLarge(error) || parcel.uploads.length === 0) return resultOf(error);
      world.log("warn", "discord takes no files of this size", { item: item.id, why: sentenceOf(error) });
    }
    // The words are not hostage to the files.
    try {
      return accepted(item, await deliver(item, withoutFiles(parcel), signal));
    } catch (error) {
      return resultOf(error);
    }
  };
}

/** The id of the first such message of a channel after a place in it. */
export async function search(
  api: Api,
  { channel, after: from }: { readonly channel: string; readonly after: string },
  isThis: (message: APIMessage) => boolean,
  signal: AbortSignal,
): Promise<string | null> {
  let after = from;
  for (let page = 0; page < pagesMax; page++) {
    const messages = await api.messagesAfter(channel, after, signal);
    const found = messages.find(isThis);
    if (found !== undefined) return found.id;
    if (messages.length < 100) return null;
    after = messages.reduce((top, { id }) => (BigInt(id) > BigInt(top) ? id : top), after);
  }
  return null;
}

async function pack(item: OutboxItem, { blobs, world }: Sending): Promise<Parcel> {
  const { content, answer } = wanted(item);
  const uploads: Upload[] = [];
  const missing: string[] = [];
  if (answer !== null) uploads.push({ name: "answer.md", mime: "text/markdown", data: Buffer.from(answer) });
  for (const { name, mime, blob } of item.files) {
    if (uploads.length === filesMax) missing.push(name);
    else
      try {
        uploads.push({ name, mime, data: await blobs.read(blob) });
      } catch (error) {
        world.log("warn", "a file to be sent is not there", { item: item.id, name, why: sentenceOf(error) });
        missing.push(name);
      }
  }
  return { content: noting(content, missing, uploads.length > 0), uploads };
}

function withoutFiles({ content, uploads }: Parcel): Parcel {
  const names = uploads.map(({ name }) => name);
  return { content: noting(content, names, false), uploads: [] };
}

/** A message without words and files is refused by Discord. */
function noting(content: string, missing: readonly string[], hasFiles: boolean): string {
  const note = missing.length === 0 ? "" : `(could not be sent: ${missing.join(", ")})`;
  const whole = [content, note].filter((one) => one !== "").join("\n\n");
  if (whole === "" && !hasFiles) return "(empty)";
  return whole.length <= textMax ? whole : content;
}
