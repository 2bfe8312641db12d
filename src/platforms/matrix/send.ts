// Sends an item as one event or several, each under a transaction id made from the item, so a repeat is the same event. The
// receipt of each event is stored before the next one leaves. Homeservers forget transaction ids after a while; then the
// room is searched before an event is repeated.

import { readFile } from "node:fs/promises";
import type { FileRef } from "../../core/message.ts";
import type { OutboxItem, SendResult } from "../../core/outbox.ts";
import type { Blobs } from "../../ports/blobs.ts";
import type { Confirm } from "../../ports/platform.ts";
import type { World } from "../../ports/world.ts";
import type { MatrixApi } from "./api.ts";
import { sendResultOf } from "./faults.ts";
import { limited } from "./following.ts";
import { isBook } from "./markup.ts";
import { fileContent, textContent } from "./outbound.ts";

export type Sending = { readonly api: MatrixApi; readonly blobs: Blobs; readonly world: Pick<World, "now"> };

/** Synapse remembers a transaction id for half an hour; within this we trust it. */
const txnKnownMs = 20 * 60_000;
/** How far our clock and the homeserver's may be apart. */
const skewMs = 5 * 60_000;
const pagesMax = 50;

/** One event. Its content may need an upload first. */
type Step = { readonly txn: string; readonly content: () => Promise<object> };

export async function send(
  sending: Sending,
  given: OutboxItem,
  signal: AbortSignal,
  confirm?: Confirm,
): Promise<SendResult> {
  const { api } = sending;
  try {
    const item = await finishing(api, given, signal);
    const ids = [...(item.now.state === "sending" ? (item.now.sent ?? []) : [])];
    const steps = stepsOf(sending, item, signal);
    for (const [n, { txn, content }] of steps.entries()) {
      if (ids[n] !== undefined) continue;
      const known = mustLook(item, sending.world.now()) ? await find(api, item, txn, signal) : null;
      const id = known ?? (await api.sendEvent(item.to.chat, "m.room.message", txn, await content(), limited(signal)));
      ids.push(id);
      if (n < steps.length - 1) await confirm?.(id);
    }
    // What was placed keeps its id: later edits refer to the first event.
    return { type: "accepted", remoteId: item.edits ?? ids[0] ?? item.id };
  } catch (error) {
    return sendResultOf(error);
  }
}

/** An earlier send may have arrived so long ago that the homeserver has forgotten its transaction id. */
export function mustLook({ now, createdAt }: OutboxItem, at: number): boolean {
  return now.state === "sending" && (now.doubts ?? 0) + (now.cuts ?? 0) > 0 && isForgotten(createdAt, at);
}

/** Whether the homeserver may have forgotten a transaction id that was used this long ago. */
export function isForgotten(since: number, at: number): boolean {
  return at - since > txnKnownMs;
}

/** The event that an earlier send made; null when there is none. */
export async function find(
  api: MatrixApi,
  item: Pick<OutboxItem, "to" | "createdAt">,
  txn: string,
  signal: AbortSignal,
): Promise<string | null> {
  let from: string | null = null;
  for (let page = 0; page < pagesMax; page++) {
    const { events, end }: Page = await api.before(item.to.chat, from, null, limited(signal));
    const hit = events.find(({ unsigned }) => unsigned?.transaction_id === txn);
    if (hit?.event_id !== undefined) return hit.event_id;
    const isOlder = events.some(({ origin_server_ts: ts }) => ts !== undefined && ts < item.createdAt - skewMs);
    if (isOlder || end === null || end === from) return null;
    from = end;
  }
  return null;
}

type Page = Awaited<ReturnType<MatrixApi["before"]>>;

/** An edit of something that was taken away is seen by nobody: then the words are sent anew. */
async function finishing(api: MatrixApi, item: OutboxItem, signal: AbortSignal): Promise<OutboxItem> {
  if (item.edits === undefined || (await api.stands(item.to.chat, item.edits, limited(signal)))) return item;
  const { edits: _, ...anew } = item;
  return anew;
}

/** The words first: a file that cannot be sent is told in words and holds nothing back. */
function stepsOf(sending: Sending, item: OutboxItem, signal: AbortSignal): readonly Step[] {
  const files = item.files.map((file, n): Step => {
    return { txn: `${item.id}.file${n}`, content: () => uploaded(sending, item, file, signal) };
  });
  if (isBook(item.text)) return [...bookOf(sending, item, signal), ...files];
  if (item.text === "") return files;
  return [{ txn: item.id, content: async () => textContent(item) }, ...files];
}

/** Too long for events: its beginning to read at once, and a file, which is uploaded before anything is shown. */
function bookOf({ api }: Sending, item: OutboxItem, signal: AbortSignal): readonly Step[] {
  const [name, mime, bytes] = ["answer.md", "text/markdown", Buffer.from(item.text)] as const;
  const begin = `${item.text.slice(0, 1_000).toWellFormed()}…\n\n(The whole answer is in the file.)`;
  let uploading: Promise<string> | null = null;
  const upload = (): Promise<string> => (uploading ??= api.upload(bytes, name, mime, signal));
  return [
    {
      txn: item.id,
      async content() {
        await upload();
        return textContent({ ...item, text: begin });
      },
    },
    {
      txn: `${item.id}.book`,
      async content() {
        const file = { mxc: await upload(), name, mime, bytes: bytes.byteLength };
        return fileContent(file, item.to, item.hints);
      },
    },
  ];
}

async function uploaded(
  { api, blobs }: Sending,
  { to, hints }: OutboxItem,
  { name, mime, blob }: FileRef,
  signal: AbortSignal,
): Promise<object> {
  try {
    const bytes = await readFile(blobs.path(blob));
    const mxc = await api.upload(bytes, name, mime, signal);
    return fileContent({ mxc, name, mime, bytes: bytes.byteLength }, to, hints);
  } catch (error) {
    const result = sendResultOf(error);
    if (result.type !== "refused") throw error;
    return textContent({ to, text: `The file ${name} could not be sent: ${result.why}` });
  }
}
