// Follows /sync from a stored place: takes the events of each answer in order, fills gaps from the rooms' history, and moves
// the place only after everything of an answer is stored.

import { Fault, sentenceOf } from "../../core/fault.ts";
import { later } from "../../core/ids.ts";
import type { FileRef, Inbound } from "../../core/message.ts";
import { contentOf } from "../../ports/content.ts";
import { type MatrixApi, type MatrixEvent, MatrixError, type Sync } from "./api.ts";
import { type Attachment, type Room, readEvent } from "./inbound.ts";
import { type Following, courtesy, limited } from "./following.ts";
import { invitations } from "./invitations.ts";
import { body } from "./outbound.ts";

/** How long the server may hold an answer back, and how much later than that it may come. */
const waitMs = 30_000;
const lateMs = 15_000;
/** The first answer may hold everything that was missed. */
const firstMs = 90_000;
/** Of one file. */
const downloadMs = 90_000;
/** Pages of a room's history that are read to fill a gap. */
const pagesMax = 100;
/** Rooms whose members are kept in memory, and rooms that were told that they cannot be read. */
const roomsMax = 1_000;
const fileMax = 50_000_000;
const downloadsMax = 3;
const pauseMs = 1_000;

/** What the stored cursor holds: the place in the stream, rooms told that they cannot be read, rooms we are invited to. */
type Place = { readonly since: string; readonly told: readonly string[]; readonly invited: readonly string[] };

export async function follow(of: Following, from: string | null, signal: AbortSignal): Promise<void> {
  const { api, inlet } = of;
  let place = readPlace(from);
  if (place === null) {
    const { next_batch } = await api.sync(null, 0, limited(signal, firstMs));
    place = { since: next_batch, told: [], invited: [] };
    await inlet.moved(JSON.stringify(place));
  }
  const rooms = roomsOf(of);
  const guests = invitations(of, place.invited, signal);
  // The first answer comes at once: whatever waited is in it.
  for (let wait = 0; !signal.aborted; wait = waitMs) {
    const answer = await api.sync(place.since, wait, limited(signal, wait === 0 ? firstMs : wait + lateMs));
    if (signal.aborted) return;
    inlet.up();
    const told = await take(of, rooms, answer, place, signal);
    if (signal.aborted) return;
    guests.add(Object.keys(answer.rooms?.invite ?? {}));
    const next = { since: answer.next_batch, told, invited: guests.open() };
    if (JSON.stringify(next) !== JSON.stringify(place)) await inlet.moved(JSON.stringify(next));
    place = next;
  }
}

function readPlace(cursor: string | null): Place | null {
  if (cursor === null) return null;
  const { since, told = [], invited = [] } = JSON.parse(cursor) as Partial<Place>;
  return typeof since === "string" ? { since, told, invited } : null;
}

/** Everything of one answer, room by room; resolves with the rooms that know that they cannot be read. */
async function take(of: Following, rooms: Rooms, answer: Sync, place: Place, signal: AbortSignal) {
  const { api, self, inlet } = of;
  let { told } = place;
  for (const [id, { timeline = {} }] of Object.entries(answer.rooms?.join ?? {})) {
    const missed = timeline.limited === true && timeline.prev_batch !== undefined;
    const before = missed ? await gap(of, id, timeline.prev_batch, place.since, signal) : [];
    for (const event of [...before, ...(timeline.events ?? [])]) {
      if (signal.aborted) return told;
      if (event.type === "m.room.member") rooms.forget(id);
      const room = await rooms.of(id, signal);
      const read = readEvent(event, room, self);
      if (read.type === "encrypted" && !told.includes(id)) {
        await tellEncrypted(of, id, signal);
        told = [...told, id].slice(-roomsMax);
      }
      if (read.type !== "message") continue;
      await inlet.accept(await withFiles(of, read.inbound, read.files, signal), null);
      void courtesy(of.around.world, "receipt", api.receipt(id, read.inbound.key, limited(signal)));
    }
  }
  return told;
}

/** What happened between the stored place and where the answer begins, oldest first. */
async function gap(
  { api, around }: Following,
  room: string,
  from: string | undefined,
  to: string,
  signal: AbortSignal,
) {
  const found: MatrixEvent[] = [];
  for (let page = 0, at = from ?? null; at !== null; page++) {
    if (page >= pagesMax) {
      around.world.log("error", "a room's history is longer than we read back; what is older is not answered", {
        room,
      });
      break;
    }
    const { events, end } = await api.before(room, at, to, limited(signal));
    found.push(...events);
    at = end === at ? null : end;
  }
  return found.toReversed();
}

async function tellEncrypted({ api, around }: Following, room: string, signal: AbortSignal): Promise<void> {
  const words =
    "This room is encrypted, and I cannot read encrypted messages. Please write to me in a room without encryption.";
  try {
    const content = { ...body(words), msgtype: "m.notice" };
    await api.sendEvent(room, "m.room.message", `encrypted-${room}`, content, limited(signal));
  } catch (error) {
    if (!(error instanceof MatrixError)) throw error;
    around.world.log("warn", "an encrypted room could not be told so", { room, why: error.message });
  }
}

interface Rooms {
  of(id: string, signal: AbortSignal): Promise<Room>;
  forget(id: string): void;
}

/** Who is in a room is asked once, and again after somebody came or went. */
function roomsOf({ api }: Following): Rooms {
  const known = new Map<string, Room>();
  return {
    async of(id, signal) {
      const found = known.get(id);
      if (found !== undefined) return found;
      const room = { id, members: await membersOf(api, id, signal) };
      if (known.size >= roomsMax) known.clear();
      known.set(id, room);
      return room;
    },
    forget: (id) => void known.delete(id),
  };
}

/** Of a room that we have left since nobody is known, which makes it a chat of two: who may speak is asked all the same. */
async function membersOf(api: MatrixApi, id: string, signal: AbortSignal): Promise<ReadonlyMap<string, string>> {
  try {
    return await api.members(id, limited(signal));
  } catch (error) {
    if (error instanceof MatrixError && error.code === "M_FORBIDDEN") return new Map();
    throw error;
  }
}

/** Files are ours before the message is stored; one that cannot be had is told in words. */
async function withFiles(
  of: Following,
  inbound: Inbound,
  files: readonly Attachment[],
  signal: AbortSignal,
): Promise<Inbound> {
  const { around, inlet } = of;
  if (files.length === 0 || inbound.body.kind !== "text" || !(await inlet.hears(inbound))) return inbound;
  const kept: FileRef[] = [];
  const words = [inbound.body.text].filter((one) => one !== "");
  for (const { mxc, name, mime, bytes } of files) {
    try {
      if (bytes > fileMax) throw new Fault("too-large", `it has ${bytes} bytes, and at most ${fileMax} are taken`);
      const content = await fetched(of, mxc, signal);
      kept.push(await around.blobs.put(content, { name, mime }));
    } catch (error) {
      // Our own disk gets better; a server that has lost the file does not, and nobody else may wait for it.
      if (signal.aborted || (error instanceof Fault && error.code.startsWith("store"))) throw error;
      words.push(`(The file ${name} could not be fetched: ${sentenceOf(error)})`);
    }
  }
  return { ...inbound, body: { kind: "text", text: words.join("\n"), files: kept } };
}

/** A failure may pass; after some tries it counts. */
async function fetched(
  { api, around }: Following,
  mxc: string,
  signal: AbortSignal,
): Promise<AsyncIterable<Uint8Array>> {
  for (let tries = 1; ; tries++) {
    try {
      return contentOf(await api.download(mxc, limited(signal, downloadMs)));
    } catch (error) {
      const mayPass = !(error instanceof Fault) && !(error instanceof MatrixError && error.status < 500);
      if (!mayPass || tries >= downloadsMax || signal.aborted) throw error;
      await around.world.sleep(later(around.world.now(), tries * pauseMs), signal);
    }
  }
}
