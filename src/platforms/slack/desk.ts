// What every part of the platform has at hand: the calls, the names of people, and which messages were stored lately.

import type { Blobs } from "../../ports/blobs.ts";
import type { World } from "../../ports/world.ts";
import { type Api, type SlackSettings, openApi } from "./api.ts";
import { failureOf } from "./faults.ts";
import type { Names } from "./markup.ts";

export interface Desk {
  readonly account: string;
  readonly apiRoot: string;
  readonly api: Api;
  readonly world: World;
  readonly blobs: Blobs;
  /** The names that can be had. */
  namesOf(people: readonly string[], signal: AbortSignal): Promise<Names>;
  /** Stored in this life: it need not be offered again when the past is read. */
  remember(key: string): void;
  isKnown(key: string): boolean;
  /** The id of the conversation; a person stands for the chat of two with them. */
  channelOf(chat: string, signal: AbortSignal): Promise<string>;
}

const namesMax = 1_000;
const keysMax = 5_000;
/** A message waits no longer than this for the name of whoever wrote it. */
const nameMs = 5_000;

export function openDesk(settings: SlackSettings, account: string, world: World, blobs: Blobs): Desk {
  const api = openApi(settings, world);
  const names = new Map<string, string | null>();
  const keys = new Set<string>();
  const directs = new Map<string, string>();

  async function nameOf(user: string, signal: AbortSignal): Promise<string | null> {
    const known = names.get(user);
    if (known !== undefined) return known;
    try {
      const name = await api.userName(user, AbortSignal.any([signal, AbortSignal.timeout(nameMs)]));
      keep(names, user, name);
      return name;
    } catch (error) {
      // Only a clear no is remembered.
      if (failureOf(error).kind === "no") keep(names, user, null);
      return null;
    }
  }

  return {
    account,
    apiRoot: settings.apiRoot,
    api,
    world,
    blobs,
    async namesOf(people, signal) {
      const found = new Map<string, string>();
      for (const user of people) {
        const name = await nameOf(user, signal);
        if (name !== null) found.set(user, name);
      }
      return found;
    },
    remember(key) {
      keys.add(key);
      if (keys.size > keysMax) for (const oldest of keys) return void keys.delete(oldest);
    },
    isKnown: (key) => keys.has(key),
    async channelOf(chat, signal) {
      if (!/^[UW][A-Z0-9]+$/.test(chat)) return chat;
      const known = directs.get(chat) ?? (await api.direct(chat, signal));
      directs.set(chat, known);
      return known;
    },
  };
}

function keep(names: Map<string, string | null>, user: string, name: string | null): void {
  names.set(user, name);
  if (names.size > namesMax) for (const oldest of names.keys()) return void names.delete(oldest);
}
