// How far we are in what Discord tells, as the text that is stored with every message. A session and the number of the last
// event that is safe with us let Discord repeat the rest; where it has forgotten the session, the newest message of each
// channel says what to ask for. Pure.

export type Session = { readonly id: string; readonly resumeUrl: string };

export type Cursor = {
  /** Null: nothing to resume; what was missed is looked up by the positions below. */
  readonly session: Session | null;
  readonly seq: number;
  /** The newest message that is settled: in direct chats, and in channels and threads of servers. */
  readonly direct: Positions;
  readonly channels: Positions;
  /** Channels that are not listed hold nothing new up to here. */
  readonly floor: string;
  /** Not all servers have been told for the first time: what stands there already is history. */
  readonly isFresh: boolean;
};

export type Positions = Readonly<Record<string, string>>;

/** Direct chats are only known from here; channels of servers are told anew with every session. */
const directMax = 500;
const channelsMax = 200;
/** Messages of different channels may arrive in another order than their ids; nobody is late by more than this. */
const marginMs = 60_000;
const epoch = 1_420_070_400_000;

export const start: Cursor = { session: null, seq: 0, direct: {}, channels: {}, floor: "0", isFresh: true };

/** What cannot be read is an empty place to start from; that is also the answer to null. */
export function readCursor(text: string | null): Cursor {
  if (text === null) return start;
  let read: unknown;
  try {
    read = JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return start;
    throw error;
  }
  if (typeof read !== "object" || read === null) return start;
  const { session, seq, direct, channels, floor, isFresh } = read as Record<string, unknown>;
  return {
    session: readSession(session),
    seq: typeof seq === "number" && Number.isSafeInteger(seq) ? seq : 0,
    direct: readPositions(direct),
    channels: readPositions(channels),
    floor: isId(floor) ? floor : "0",
    isFresh: isFresh !== false,
  };
}

function readSession(given: unknown): Session | null {
  if (typeof given !== "object" || given === null) return null;
  const { id, resumeUrl } = given as Record<string, unknown>;
  if (typeof id !== "string" || typeof resumeUrl !== "string" || !isGatewayUrl(resumeUrl)) return null;
  return { id, resumeUrl };
}

/** A wrong address would bring the library down. */
export function isGatewayUrl(url: string): boolean {
  return /^wss?:\/\//.test(url) && URL.canParse(url);
}

function readPositions(given: unknown): Positions {
  if (typeof given !== "object" || given === null) return {};
  return Object.fromEntries(Object.entries(given).filter((entry): entry is [string, string] => isId(entry[1])));
}

function isId(value: unknown): value is string {
  return typeof value === "string" && /^\d{1,20}$/.test(value);
}

export function formatCursor(cursor: Cursor): string {
  return JSON.stringify(cursor);
}

/** Ids grow with time, and are longer than numbers can be. */
export function isNewer(id: string, than: string): boolean {
  return id.length === than.length ? id > than : id.length > than.length;
}

export function idAt(at: number): string {
  return String(BigInt(Math.max(0, at - epoch)) << 22n);
}

export function timeOf(id: string): number {
  return Number(BigInt(id) >> 22n) + epoch;
}

/** A message of this channel is settled. `isLive`: it came as an event, so everything older has come before it. */
export function passed(cursor: Cursor, place: Place, id: string, isLive: boolean): Cursor {
  const list = place.isDirect ? "direct" : "channels";
  const known = cursor[list][place.channel];
  const moved = known !== undefined && !isNewer(id, known) ? cursor[list] : { ...cursor[list], [place.channel]: id };
  const floor = idAt(timeOf(id) - marginMs);
  return {
    ...cursor,
    [list]: newest(moved, place.isDirect ? directMax : channelsMax),
    floor: isLive && isNewer(floor, cursor.floor) ? floor : cursor.floor,
  };
}

export type Place = { readonly channel: string; readonly isDirect: boolean };

/** Up to here it is history. */
export function remembered(cursor: Cursor, newestIds: Positions): Cursor {
  const floor = Object.values(newestIds).reduce((top, id) => (isNewer(id, top) ? id : top), cursor.floor);
  return { ...cursor, channels: newest({ ...cursor.channels, ...newestIds }, channelsMax), floor };
}

/** Where to go on reading in a channel. */
export function positionIn(cursor: Cursor, channel: string): string {
  return cursor.direct[channel] ?? cursor.channels[channel] ?? cursor.floor;
}

function newest(positions: Positions, max: number): Positions {
  const entries = Object.entries(positions);
  if (entries.length <= max) return positions;
  const sorted = entries.toSorted(([, a], [, b]) => (isNewer(a, b) ? -1 : 1));
  return Object.fromEntries(sorted.slice(0, max));
}
