// Where answers go: topics of groups, of direct chats and of channels, and what they are a reply to.

import assert from "node:assert/strict";
import { hintsFor } from "../../core/notice.ts";
import { table } from "../../testing/table.ts";
import { placesFor } from "./place.ts";

const reply = { reply_parameters: { message_id: 5, allow_sending_without_reply: true } } as const;
const anchor = { telegram_reply_to_message_id: "5" } as const;
const at = (chat: string, thread?: string) => ({
  platform: "telegram",
  account: "777",
  chat,
  ...(thread === undefined ? {} : { thread }),
});

table(
  "places, the best first",
  [
    { name: "a direct chat", to: at("7"), hints: {}, places: [{ chat_id: "7" }] },
    { name: "a group", to: at("-7"), hints: anchor, places: [{ chat_id: "-7", ...reply }] },
    {
      name: "a topic of a group",
      to: at("-7", "9"),
      hints: hintsFor(at("-7", "9"), anchor, "5"),
      places: [
        { chat_id: "-7", message_thread_id: 9, ...reply },
        { chat_id: "-7", ...reply },
      ],
    },
    { name: "the general topic", to: at("-7", "1"), hints: { thread_id: "1" }, places: [{ chat_id: "-7" }] },
    {
      name: "a topic of a direct chat, with all four fields",
      to: at("7", "31"),
      hints: hintsFor(at("7", "31"), {}, "5"),
      places: [
        { chat_id: "7", message_thread_id: 31, ...reply },
        { chat_id: "7", direct_messages_topic_id: 31, ...reply },
        { chat_id: "7", ...reply },
      ],
    },
    {
      name: "the first topic of a direct chat",
      to: at("7", "1"),
      hints: hintsFor(at("7", "1"), {}, "5"),
      places: [{ chat_id: "7", ...reply }],
    },
    {
      name: "direct messages of a channel",
      to: at("-7", "44"),
      hints: { direct_messages_topic_id: "44", thread_id: "44" },
      places: [{ chat_id: "-7", direct_messages_topic_id: 44 }],
    },
    {
      name: "a hint that is no number",
      to: at("7"),
      hints: { telegram_reply_to_message_id: "x" },
      places: [{ chat_id: "7" }],
    },
  ],
  ({ to, hints, places }) => {
    assert.deepEqual(placesFor(to, hints), places);
  },
);

table("later parts are no reply", [{ name: "in a group", to: at("-7"), hints: anchor }], ({ to, hints }) => {
  assert.deepEqual(placesFor(to, hints, false), [{ chat_id: "-7" }]);
});
