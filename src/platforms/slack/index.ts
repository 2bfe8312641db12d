// Slack, through Socket Mode and its Web API: no port has to be open. An event is acknowledged after its message is
// stored; what came while nobody listened is read from the past of the conversations; what may have been sent already is
// looked for before it is sent again.

import { Fault } from "../../core/fault.ts";
import type { Address } from "../../core/message.ts";
import type { SendResult } from "../../core/outbox.ts";
import { type DraftMessages, type Platform, type Surroundings, previewsFor } from "../../ports/platform.ts";
import type { SlackSettings } from "./api.ts";
import { type Desk, openDesk } from "./desk.ts";
import { failureOf, faultOf, isGone, resultOf } from "./faults.ts";
import { listenTo } from "./socket/listen.ts";
import { partsOf, toMrkdwn, textMax } from "./markup.ts";
import { emptyDraft } from "./outbound.ts";
import { keyOf } from "./outbound.ts";
import { foundDraft, placeOf, sendItem } from "./send.ts";

export type { SlackSettings } from "./api.ts";

/** Edits are counted for the whole workspace, about 50 a minute; previews leave some of them for answers. */
const previewsPerMinute = 35;
const draftEveryMs = 2_000;

export function slack(settings: SlackSettings, { world, blobs }: Surroundings): Platform {
  const account = accountOf(settings.appToken);
  const desk = openDesk(settings, account, world, blobs);
  return {
    name: "slack",
    account,
    can: {
      keyedSend: true,
      ...previewsFor(settings.streaming, draftEveryMs),
      pace: { perSecond: 5, chatEveryMs: 1_000, chatBurst: 3, editsPerMinute: 50 },
      isFar: true,
    },
    parts: partsOf,
    listen: (inlet, from, signal) => listenTo(desk, inlet, from, signal),
    send: (item, signal, confirm) => sendItem(desk, item, signal, confirm),
    draft: () => undefined,
    ...(settings.streaming === false ? {} : { drafts: draftMessages(desk) }),
    async ping(signal) {
      await desk.api.whoAmI(signal).catch((error: unknown) => {
        throw faultOf(failureOf(error), "botToken", error);
      });
    },
    async probe(signal) {
      const us = await desk.api.whoAmI(signal).catch((error: unknown) => {
        throw faultOf(failureOf(error), "botToken", error);
      });
      await desk.api.trySocket(signal).catch((error: unknown) => {
        throw faultOf(failureOf(error), "appToken", error);
      });
      return `signed in as @${us.name} in ${us.team}; Socket Mode is on`;
    },
  };
}

/** The app's id stands in its token, so that the same app has the same account whatever the token. */
export function accountOf(appToken: string): string {
  const [, id] = /^xapp-\d+-(A[A-Z0-9]+)-/.exec(appToken) ?? [];
  if (id !== undefined) return id;
  throw new Fault("config-wrong", "platforms.slack.appToken is not an app-level token, which begins with xapp-1-A.");
}

function draftMessages(desk: Desk): DraftMessages {
  const { api, world } = desk;
  const fills: number[] = [];
  const at = async (to: Address, signal: AbortSignal) => {
    const { chat, ...thread } = placeOf(to);
    return { channel: await desk.channelOf(chat, signal), ...thread };
  };
  return {
    isKeyed: true,
    place: (to, _, signal, key) =>
      answered(async () => {
        const where = await at(to, signal);
        const known = key.placedSince === null ? null : await foundDraft(desk, key, { ...where, to }, signal);
        return known ?? (await api.post({ ...where, text: emptyDraft, metadata: keyOf(key) }, signal)).ts;
      }),
    fill: (to, ts, text, signal) => {
      const now = world.now();
      while ((fills[0] ?? now) < now - 60_000) fills.shift();
      const [oldest = now] = fills;
      if (fills.length >= previewsPerMinute) return Promise.resolve(yielding(oldest + 60_000 - now));
      fills.push(now);
      const shown = toMrkdwn(text).slice(0, textMax) || emptyDraft;
      return answered(async () => {
        const { channel } = await at(to, signal);
        await api.update({ channel, ts, text: shown }, signal);
        return ts;
      });
    },
    remove: (to, ts, signal) =>
      answered(async () => {
        const { channel } = await at(to, signal);
        await api.remove(channel, ts, signal).catch((error: unknown) => {
          if (!isGone(failureOf(error))) throw error;
        });
        return ts;
      }),
  };
}

function yielding(afterMs: number): SendResult {
  return { type: "retry", afterMs, why: "previews leave room for answers" };
}

async function answered(work: () => Promise<string>): Promise<SendResult> {
  try {
    return { type: "accepted", remoteId: await work() };
  } catch (error) {
    return resultOf(failureOf(error));
  }
}
