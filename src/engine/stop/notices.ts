// Tells people of a stop before it happens: straight to the platforms, all at once, stored nowhere and never repeated.
// Whatever becomes of it, the stop goes on.

import { sentenceOf } from "../../core/fault.ts";
import type { ItemId, SessionId } from "../../core/ids.ts";
import type { StopIntent } from "../../core/lifecycle.ts";
import type { Address, Inbound } from "../../core/message.ts";
import { type Notice, homesOf, noticesBefore } from "../../core/notice.ts";
import type { OutboxItem } from "../../core/outbox.ts";
import type { Facts } from "../../ports/world.ts";
import { childOf, over } from "../abort.ts";
import { homesNow } from "../access/home.ts";
import { type Parts, platformOf, settingsOf } from "../parts.ts";
import type { Running } from "../turns/run.ts";

export type StopNews = {
  readonly intent: StopIntent;
  readonly running: readonly Running[];
  /** Messages that asked for this restart in a chat. */
  readonly asked: readonly Inbound[];
};

/** Answers how many were told and how many could not be. */
export async function tellPeople(parts: Parts, news: StopNews): Promise<Facts> {
  const notices = noticesBefore({
    stop: news.intent,
    // Who has the answer by now does not wait for it.
    busy: news.running
      .filter(({ turn }) => turn.now.state === "running")
      .map(({ session, turn }) => ({ at: session.address, input: turn.input })),
    asked: news.asked,
    homes: await homes(parts),
    wanted: (platform) => settingsOf(parts, platform).restartNotices,
  });
  const sent = await Promise.all(notices.map((notice) => send(parts, notice)));
  return { told: sent.filter(Boolean).length, not_told: sent.filter((one) => !one).length };
}

/** A store that cannot be read any more keeps nobody from hearing of the stop. */
async function homes({ store, settings, platforms, world }: Parts): Promise<readonly Address[]> {
  const ours = platforms.map(({ name, account }) => ({ platform: name, account }));
  try {
    return await homesNow(store, settings.platforms, ours);
  } catch (error) {
    world.log("warn", "the homes that were chosen in chats cannot be read", { why: sentenceOf(error) });
    return homesOf(settings.platforms);
  }
}

async function send(parts: Parts, notice: Notice): Promise<boolean> {
  const platform = platformOf(parts, notice.to);
  if (platform === null) return false;
  const own = childOf(parts.closing);
  try {
    return (await platform.send(itemOf(parts, notice), own.signal)).type === "accepted";
  } catch (error) {
    parts.world.log("warn", `${notice.to.platform} broke while a notice was sent`, { why: String(error) });
    return false;
  } finally {
    own.abort(over);
  }
}

/** Such an item is in no store and belongs to no conversation. */
function itemOf({ world, boot }: Parts, { to, text, hints }: Notice): OutboxItem {
  return {
    id: `notice-${world.id()}` as ItemId,
    session: "" as SessionId,
    turn: null,
    part: 0,
    to,
    text,
    files: [],
    hints,
    createdAt: world.now(),
    version: 1,
    now: { state: "sending", boot, attempts: 1 },
  };
}
