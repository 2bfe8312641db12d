// /sethome: the chat where the gateway itself speaks to its owner. The choice is kept with the commit that accepts it.

import type { Inbound } from "../../core/message.ts";
import { homeFact } from "../access/home.ts";
import { type Parts, settingsOf } from "../parts.ts";
import { type Obeyed, nothing, only } from "./obeyed.ts";

export function setHome(parts: Parts, { from }: Inbound, rest: string): Obeyed {
  const { platform, account, chat, thread } = from;
  const { home, restartNotices } = settingsOf(parts, platform);
  const name = homeFact(platform);
  const typed = rest.trim().toLowerCase();
  if (typed === "off") {
    const now = home === null ? "has no home" : "has the home that is configured";
    return { text: `Taken back: ${platform} ${now}.`, changes: [{ drop: "fact", name }], stored: nothing };
  }
  if (typed !== "") return only("Send /sethome where the home is to be, or /sethome off to take it back.");
  const value = JSON.stringify({ account, chat, ...(thread === undefined ? {} : { thread }) });
  const what = restartNotices
    ? "I tell here when the gateway is stopped or restarted, and when a restart is over; not of a start after a stop or a crash."
    : "Notices of stops and starts are switched off at this platform.";
  return {
    text: `This chat is the home of ${platform} now. ${what} /sethome off takes it back.`,
    changes: [{ put: "fact", name, value }],
    stored: nothing,
  };
}
