// Discord. Messages come through its gateway, resumed where the last stored one stood; answers leave by its HTTP interface,
// each under a key that Discord knows for a few minutes.

import { sentenceOf } from "../../core/fault.ts";
import {
  type Can,
  type DraftMessages,
  type Platform,
  type Streaming,
  type Surroundings,
  previewsFor,
} from "../../ports/platform.ts";
import { api as openApi } from "./api.ts";
import { asFault, isGone, resultOf } from "./faults.ts";
import { areSame, slashCommands } from "./interactions.ts";
import { parts, placeholder, preview } from "./markup.ts";
import { channelOf, draftBody, fillBody, isDraft, isForgotten, lookFrom } from "./outbound.ts";
import { search, sender } from "./sending.ts";
import type { Connection } from "./stream/connection.ts";
import { listener } from "./stream/listen.ts";
import { places } from "./stream/places.ts";

export type DiscordSettings = {
  readonly token: string;
  readonly apiRoot: string;
  readonly streaming: Streaming;
};

/** 50 requests a second for all. What a channel takes is in the headers of each answer, and the library keeps to it. */
const pace = { perSecond: 45, chatEveryMs: 0, threadsApart: true } as const;
const draftEveryMs = 1_500;
const courtesyMs = 10_000;

export function discord(settings: DiscordSettings, around: Surroundings): Platform {
  const account = accountOf(settings.token);
  const api = openApi(settings);
  const { world } = around;
  let connection: Connection | null = null;
  let isOffered = false;

  const listen = listener({
    ...around,
    token: settings.token,
    account,
    api,
    places: places(account),
    onConnection: (now) => void (connection = now),
  });

  /** Once in a life: commands are registered where they differ from what Discord has. */
  async function offerCommands(signal: AbortSignal): Promise<void> {
    const { id } = await api.application(signal);
    const wanted = slashCommands();
    if (!areSame(await api.commands(id, signal), wanted)) await api.setCommands(id, wanted, signal);
    isOffered = true;
  }

  /** One that was placed so long ago that Discord may have forgotten its key. */
  const lostDraft: (...of: Parameters<DraftMessages["place"]>) => Promise<string | null> = async (
    to,
    hints,
    signal,
    { id, placedSince },
  ) => {
    if (placedSince === null || !isForgotten(placedSince, world.now())) return null;
    const draft = { id, createdAt: placedSince };
    const at = { channel: channelOf(to), after: lookFrom(draft) };
    return search(api, at, (one) => isDraft(one, draft, account, hints), signal);
  };

  const drafts: DraftMessages = {
    isKeyed: true,
    async place(to, hints, signal, key) {
      try {
        const there = await lostDraft(to, hints, signal, key);
        const remoteId = there ?? (await api.send(channelOf(to), draftBody(placeholder, hints, key.id), [], signal)).id;
        return { type: "accepted", remoteId };
      } catch (error) {
        return resultOf(error);
      }
    },
    async fill(to, remoteId, text, signal) {
      try {
        await api.edit(channelOf(to), remoteId, fillBody(preview(text)), [], signal);
        return { type: "accepted", remoteId };
      } catch (error) {
        return resultOf(error);
      }
    },
    async remove(to, remoteId, signal) {
      try {
        await api.remove(channelOf(to), remoteId, signal);
        return { type: "accepted", remoteId };
      } catch (error) {
        return isGone(error) ? { type: "accepted", remoteId } : resultOf(error);
      }
    },
  };

  /** Aborted when the gateway stops listening; typing ends with it. */
  let listening = new AbortController().signal;
  const can: Can = {
    keyedSend: true,
    ...previewsFor(settings.streaming, draftEveryMs),
    pace,
    isFar: true,
  };

  return {
    name: "discord",
    account,
    can,
    parts,
    send: sender({ ...around, api, account }),
    listen(inlet, from, signal) {
      listening = signal;
      const up = (): void => {
        inlet.up();
        if (isOffered) return;
        offerCommands(AbortSignal.any([signal, AbortSignal.timeout(courtesyMs)])).catch((error: unknown) =>
          world.log("warn", "discord did not take the slash commands", { why: sentenceOf(error) }),
        );
      };
      return listen({ ...inlet, up }, from, signal);
    },
    draft: () => undefined,
    ...(settings.streaming === false ? {} : { drafts }),
    typing(to) {
      api
        .typing(channelOf(to), AbortSignal.any([listening, AbortSignal.timeout(courtesyMs)]))
        .catch((error: unknown) => world.log("debug", "discord shows no typing", { why: sentenceOf(error) }));
    },
    async ping(signal) {
      await api.me(signal).catch((error: unknown) => {
        throw asFault(error);
      });
    },
    async probe(signal) {
      const me = await api.me(signal).catch((error: unknown) => {
        throw asFault(error);
      });
      const latency = connection?.latencyMs() ?? null;
      const beat = latency === null ? "" : `, heartbeat answered in ${latency} ms`;
      return `signed in as ${me.username}; the gateway connection ${connection === null ? "does not stand" : "stands"}${beat}`;
    },
  };
}

/** The first segment of a token is the id of its bot. */
export function accountOf(token: string): string {
  const id = Buffer.from(token.split(".")[0] ?? "", "base64url").toString("latin1");
  return /^\d{15,21}$/.test(id) ? id : "unknown";
}
