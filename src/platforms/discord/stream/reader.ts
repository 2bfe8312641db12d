// Takes events one after the other, hands over what is for us, and knows the place up to which everything is settled. What
// was missed while Discord had forgotten us is read from the channels before newer events are looked at.

import { sentenceOf } from "../../../core/fault.ts";
import type { Inbound } from "../../../core/message.ts";
import { later } from "../../../core/ids.ts";
import type { Inlet, Surroundings } from "../../../ports/platform.ts";
import type {
  APIChannel,
  APIInteraction,
  APIMessage,
  GatewayDispatchPayload,
  GatewayGuildCreateDispatchData,
} from "discord-api-types/v10";
import type { Api } from "../api.ts";
import { failureOf, isClosed, wrongToken } from "../faults.ts";
import { type Attached, type Scene, attachmentsOf, isBlanked, isForUs, toEdited, toInbound } from "../inbound.ts";
import { receiptOf, toPressedOrCalled } from "../interactions.ts";
import { fetchAttached } from "./attachments.ts";
import { type Cursor, formatCursor, idAt, isNewer, passed, positionIn, remembered } from "./cursor.ts";
import type { Channel, Places } from "./places.ts";

export type Reading = Surroundings & {
  readonly account: string;
  readonly api: Api;
  readonly places: Places;
  readonly inlet: Inlet;
  readonly signal: AbortSignal;
};

export interface Reader {
  take(event: GatewayDispatchPayload): Promise<void>;
  readonly cursor: Cursor;
  /** Discord has forgotten the session. */
  forget(): void;
}

/** Events that hold nothing for us are noted together. */
const notedEvery = 100;
const pageMax = 100;
const pauseMinMs = 1_000;
const pauseMaxMs = 30_000;
const receiptMs = 5_000;
const nothing: Attached = { files: [], missing: [] };

export function reader(reading: Reading, from: Cursor): Reader {
  const { account, api, places, inlet, signal, world } = reading;
  let cursor = from;
  let noted = from.seq;
  let isWarned = false;
  /** Servers of a new session that have not been told yet, and ourselves until all is read. It is not resumed before that. */
  let awaited: ReadonlySet<string> = new Set();
  let told: ReadonlySet<string> = new Set();

  const stored = (at: Cursor): string => formatCursor(awaited.size === 0 ? at : { ...at, session: null });

  async function take(event: GatewayDispatchPayload): Promise<void> {
    places.learn(event);
    switch (event.t) {
      case "READY":
        await begin(event.d.session_id, event.d.resume_gateway_url, event.d.guilds);
        break;
      case "RESUMED":
        inlet.up();
        break;
      case "GUILD_CREATE":
        if (event.d.unavailable !== true) await enter(event.d);
        break;
      case "GUILD_DELETE":
        await settle(event.d.id);
        break;
      case "MESSAGE_CREATE":
      case "MESSAGE_UPDATE":
        return message(event.d, event.d.guild_id ?? null, event.t === "MESSAGE_UPDATE", event.s);
      case "INTERACTION_CREATE":
        return interaction(event.d, event.s);
      default:
    }
    cursor = { ...cursor, seq: Math.max(event.s, cursor.seq) };
    const isTurn = event.t === "READY" || event.t === "RESUMED" || event.t === "GUILD_CREATE";
    if (isTurn || cursor.seq - noted >= notedEvery) await note(cursor);
  }

  async function note(at: Cursor): Promise<void> {
    await inlet.moved(stored(at));
    noted = at.seq;
  }

  /** A new session: what stands in direct chats is read at once, each server when it is told. */
  async function begin(id: string, resumeUrl: string, guilds: readonly { readonly id: string }[]): Promise<void> {
    awaited = new Set([account, ...guilds.map((guild) => guild.id)]);
    told = new Set();
    cursor = { ...cursor, session: { id, resumeUrl }, seq: 0 };
    inlet.up();
    for (const channel of Object.keys(cursor.direct)) await catchUp(channel, null);
    await settle(null);
  }

  async function enter({ id, joined_at, channels, threads }: GatewayGuildCreateDispatchData): Promise<void> {
    const listed = [...channels, ...threads].map((one) => places.channel(one.id)).filter((one) => one !== undefined);
    told = new Set([...told, ...listed.map((one) => one.id)]);
    const joined = idAt(Date.parse(joined_at));
    const unknown = listed.filter((one) => cursor.channels[one.id] === undefined);
    // What was written before we came, or before the very first start, is history.
    const from = isNewer(joined, cursor.floor) ? joined : cursor.floor;
    const begin = Object.fromEntries(unknown.map((one) => [one.id, cursor.isFresh ? (one.newest ?? "0") : from]));
    const behind = listed.filter(
      ({ id: of, newest }) => newest !== null && isNewer(newest, begin[of] ?? positionIn(cursor, of)),
    );
    if (cursor.isFresh) cursor = remembered(cursor, begin);
    for (const channel of behind) await catchUp(channel.id, channel, begin[channel.id]);
    await settle(id);
  }

  /** When the last server has been told, threads that were put away meanwhile are read too; then all is settled. */
  async function settle(guild: string | null): Promise<void> {
    const rest = new Set(awaited);
    if (guild !== null) rest.delete(guild);
    awaited = rest;
    if (rest.size !== 1 || !rest.has(account)) return;
    const untold = cursor.isFresh ? [] : Object.keys(cursor.channels).filter((id) => !told.has(id));
    for (const id of untold) {
      const channel = await insist(() => api.channel(id, signal), null);
      const known = channel === null ? null : places.keepChannel(channel);
      if (known?.newest !== null && known !== null && isNewer(known.newest, positionIn(cursor, id)))
        await catchUp(id, known);
    }
    awaited = new Set();
    cursor = { ...cursor, isFresh: false };
  }

  /** Everything that was written in a channel since its last settled message, oldest first. */
  async function catchUp(channel: string, known: Channel | null, from?: string): Promise<void> {
    for (let after = from ?? positionIn(cursor, channel); ; after = positionIn(cursor, channel)) {
      const page = await insist(() => api.messagesAfter(channel, after, signal), []);
      const sorted = page.toSorted((a, b) => (isNewer(b.id, a.id) ? -1 : 1));
      for (const one of sorted) await message(one, known?.guild ?? null, false, null);
      if (page.length < pageMax) return;
    }
  }

  /**
   * Until Discord has answered: to give up here would begin another session, and those are counted. What is closed to us
   * stays so.
   */
  async function insist<T>(ask: () => Promise<T>, otherwise: T): Promise<T> {
    for (let pause = pauseMinMs; ; pause = Math.min(pauseMaxMs, pause * 2)) {
      try {
        return await ask();
      } catch (error) {
        signal.throwIfAborted();
        const failure = failureOf(error);
        if (failure.kind === "said" && failure.status === 401) throw wrongToken();
        world.log("debug", "discord did not say what was asked", { why: sentenceOf(error) });
        if (isClosed(error) || failure.kind === "said") return otherwise;
        await world.sleep(later(world.now(), failure.kind === "limited" ? failure.afterMs : pause), signal);
        signal.throwIfAborted();
      }
    }
  }

  /** `seq` is null where it was read from a channel instead of told. */
  async function message(given: APIMessage, guild: string | null, isEdit: boolean, seq: number | null): Promise<void> {
    signal.throwIfAborted();
    const inbound = await read(given, guild, isEdit);
    const place = { channel: given.channel_id, isDirect: guild === null };
    const at = seq === null ? cursor : { ...cursor, seq: Math.max(seq, cursor.seq) };
    // While servers are still to be told, their channels are read from where the floor was.
    const isLive = seq !== null && awaited.size === 0;
    await handOver(inbound, isEdit ? at : passed(at, place, given.id, isLive));
  }

  async function read(given: APIMessage, guild: string | null, isEdit: boolean): Promise<Inbound | null> {
    // Edits of what is not kept over there come without an author, and are about previews.
    if (given.author === undefined || !isForUs(given, account)) return null;
    if (isEdit && typeof given.edited_timestamp !== "string") return null;
    const scene = await sceneOf(given.channel_id, guild, given.mention_roles.length > 0);
    if (isBlanked(given, scene)) warnOnce();
    // Whatever strangers send along, or people show each other in a server, is not kept by us.
    const attachments = attachmentsOf(given);
    const isWanted = attachments.length > 0 && (await inlet.hears(toInbound(given, scene, nothing)));
    const attached = isWanted ? await fetchAttached(attachments, reading, signal) : nothing;
    return isEdit ? toEdited(given, scene, attached) : toInbound(given, scene, attached);
  }

  /** A place counts as passed only when what stood there is stored. */
  async function handOver(inbound: Inbound | null, next: Cursor): Promise<"heard" | "ignored"> {
    let isHeard = false;
    if (inbound !== null) {
      isHeard = (await inlet.accept(inbound, stored(next))) !== "ignored";
      noted = next.seq;
    } else if (next.seq - noted >= notedEvery) await note(next);
    cursor = next;
    return isHeard ? "heard" : "ignored";
  }

  async function interaction(given: APIInteraction, seq: number): Promise<void> {
    const { channel, guild_id: guild } = given;
    const known =
      channel === undefined || guild === undefined
        ? null
        : places.keepChannel({ ...channel, guild_id: guild } as APIChannel);
    const inbound = toPressedOrCalled(given, { account, channel: known });
    const became = await handOver(inbound, { ...cursor, seq: Math.max(seq, cursor.seq) });
    if (inbound === null) return;
    // Too late it is shown as "did not respond"; what was asked is done all the same.
    api
      .respond(given.id, given.token, receiptOf(given, became === "heard"), AbortSignal.timeout(receiptMs))
      .catch((error: unknown) => world.log("debug", "discord took no receipt", { why: sentenceOf(error) }));
  }

  async function sceneOf(channelId: string, guild: string | null, namesRoles: boolean): Promise<Scene> {
    const channel = guild === null ? null : await channelOf(channelId, guild);
    if (guild !== null && namesRoles && !places.knowsRoles(guild))
      places.keepRoles(guild, await insist(() => api.roles(guild, signal), []));
    const channelName = (id: string): string | undefined => places.channel(id)?.name;
    return { account, me: account, channel, channelName, role: places.role };
  }

  /** After a resume nothing was told about channels. */
  async function channelOf(id: string, guild: string): Promise<Channel> {
    const known = places.channel(id);
    if (known !== undefined) return known;
    const found = await insist(() => api.channel(id, signal), null);
    return found === null ? { id, name: "", guild, parent: null, newest: null } : places.keepChannel(found);
  }

  function warnOnce(): void {
    if (isWarned) return;
    isWarned = true;
    const todo = "switch MESSAGE CONTENT INTENT on in the developer portal, under Bot";
    world.log("warn", `discord gives messages without their words: ${todo}`);
  }

  return {
    take,
    get cursor() {
      return cursor;
    },
    forget: () => void (cursor = { ...cursor, session: null, seq: 0 }),
  };
}
