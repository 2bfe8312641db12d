// The conversation itself. It follows its end only while the reader is there, and keeps the reader's place
// when earlier messages are put in front.

import { type ComponentChild, h, type RefObject } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import type { App } from "../app.ts";
import { givenWords, saidTo } from "../asked/given.ts";
import { type Row, timelineRows } from "../rows.ts";
import { openQuestion } from "../state.ts";
import { Growing } from "./body.ts";
import { arrowDown, turn } from "./icons.ts";
import { GivenView, MessageView, sr, UnsentView } from "./message.ts";
import { Welcome } from "./welcome.ts";
import { dayName, dayOf } from "./words.ts";

/** So near to an end counts as being there, in pixels. */
const near = 60;
const nearTop = 240;

export function Timeline({ app }: { readonly app: App }): ComponentChild {
  const { talk, out } = app;
  const feed = talk.feed.value;
  const chat = talk.chat.value;
  const rows = timelineRows(feed, out.unsent.value, chat, dayOf);
  const scroller = useRef<HTMLDivElement>(null);
  const end = useEnd(scroller, app, rows);
  const empty = feed.live && rows.length === 0;
  return h(
    "div",
    { class: "timeline" },
    h(
      "div",
      { class: "scroller", ref: scroller, onScroll: () => end.scrolled(), tabIndex: -1 },
      h(
        "div",
        { class: "column", role: "log", "aria-live": "off", "aria-label": "Messages" },
        rows.length > 0 && feed.live && !feed.complete && h(Earlier, { app }),
        rows.map((row) => h(RowView, { key: row.key, row, app })),
        h(Answering, { app }),
        empty && h(Welcome, { app }),
      ),
    ),
    !end.there &&
      rows.length > 0 &&
      h(
        "button",
        { type: "button", class: "pill jump", onClick: () => end.jump() },
        arrowDown(),
        end.news ? "New messages" : "Latest",
      ),
    h(Announcer, { app }),
  );
}

function RowView({ row, app }: { readonly row: Row; readonly app: App }): ComponentChild {
  switch (row.type) {
    case "day":
      return h("div", { class: "divider day" }, h("span", {}, dayName(row.at, Date.now())));
    case "restart":
      return h("div", { class: "divider restart" }, h("span", {}, turn(), "The gateway restarted. Nothing was lost."));
    case "unsent":
      return h(UnsentView, { app, unsent: row.unsent, away: app.talk.link.value.phase === "away" });
    case "message": {
      const { message, ends } = row;
      const { messages } = app.talk.feed.value;
      const words = givenWords(message, messages);
      if (words !== null) return h(GivenView, { words, at: message.at });
      if (message.question === undefined) return h(MessageView, { app, message, ends, newest: false });
      const newest = openQuestion(messages) === message.question.id;
      return h(MessageView, { app, message, ends, newest, said: saidTo(message, messages) });
    }
  }
}

function Earlier({ app }: { readonly app: App }): ComponentChild {
  const loading = app.talk.loadingEarlier.value;
  return h(
    "div",
    { class: "earlier" },
    h(
      "button",
      { type: "button", class: "pill", disabled: loading, onClick: () => void app.talk.earlier() },
      loading ? "Loading…" : "Earlier messages",
    ),
  );
}

/** The answer as it grows, or the sign that there will be one. */
function Answering({ app }: { readonly app: App }): ComponentChild {
  const feed = app.talk.feed.value;
  const stored = app.out.unsent.value.some((one) => one.state === "stored" && one.message.chat === app.talk.chat.value);
  if (!app.working.value && !stored) return null;
  const away = app.talk.link.value.phase === "away";
  const { draft } = feed;
  const held = away || draft?.stale === true;
  return h(
    "article",
    { class: held ? "message assistant draft held" : "message assistant draft", "aria-label": "Everturn is answering" },
    draft === null || draft.text === ""
      ? h("div", { class: "dots", "aria-hidden": "true" }, h("i", {}), h("i", {}), h("i", {}))
      : h("div", { class: "bubble" }, h(Growing, { text: draft.text })),
    held &&
      h(
        "footer",
        {},
        away ? "Paused while the gateway is away. It will go on by itself." : "Taking up where it stopped…",
      ),
  );
}

/** Says new messages aloud, once and whole, instead of every change of a growing answer. */
function Announcer({ app }: { readonly app: App }): ComponentChild {
  const feed = app.talk.feed.value;
  const last = feed.messages.at(-1);
  const began = useRef({ chat: "", n: 0 });
  if (feed.live && began.current.chat !== app.talk.chat.value)
    began.current = { chat: app.talk.chat.value, n: last?.n ?? 0 };
  const news = last !== undefined && last.role !== "user" && last.n > began.current.n;
  return h("div", { "aria-live": "polite" }, sr(news && feed.live ? last.text.slice(0, 1_000) : ""));
}

type End = {
  readonly there: boolean;
  readonly news: boolean;
  scrolled(): void;
  jump(): void;
};

function useEnd(scroller: RefObject<HTMLDivElement | null>, app: App, rows: readonly Row[]): End {
  const [there, setThere] = useState(true);
  const [news, setNews] = useState(false);
  // What the last drawing looked like, to tell growth at the top from growth at the end.
  const last = useRef({ chat: "", first: "", end: "", height: 0, there: true });
  const chat = app.talk.chat.value;

  const note = (is: boolean) => {
    last.current.there = is;
    setThere(is);
    if (is) setNews(false);
  };
  const look = () => {
    const box = scroller.current;
    if (box !== null) note(box.scrollHeight - box.scrollTop - box.clientHeight < near);
  };
  const jump = () => {
    const box = scroller.current;
    if (box !== null) box.scrollTop = box.scrollHeight;
    note(true);
  };

  useLayoutEffect(() => {
    const box = scroller.current;
    if (box === null) return;
    const was = last.current;
    const messages = rows.filter((row) => row.type === "message");
    const first = messages[0]?.key ?? "";
    const tail = rows.at(-1)?.key ?? "";
    const own = rows.at(-1)?.type === "unsent" && tail !== was.end;
    if (tail === "") {
      // An empty conversation is read from its top.
      if (!was.there) note(true);
    } else if (was.chat !== chat || was.there || own) {
      box.scrollTop = box.scrollHeight;
      if (!was.there) note(true);
      app.talk.trim();
    } else if (first !== was.first && tail === was.end) {
      box.scrollTop += box.scrollHeight - was.height;
    } else if (tail !== was.end) setNews(true);
    last.current = { chat, first, end: tail, height: box.scrollHeight, there: last.current.there };
  });

  useEffect(() => {
    const box = scroller.current;
    if (box === null) return;
    // The composer grew, a keyboard came up: whoever was at the end stays there.
    const sizes = new ResizeObserver(() => {
      if (last.current.there && last.current.end !== "") box.scrollTop = box.scrollHeight;
    });
    sizes.observe(box);
    // Something was unfolded: whoever is no longer at the end wants to read.
    const growth = new ResizeObserver(look);
    if (box.firstElementChild !== null) growth.observe(box.firstElementChild);
    return () => {
      sizes.disconnect();
      growth.disconnect();
    };
  }, []);

  const scrolled = () => {
    look();
    const box = scroller.current;
    if (box !== null && box.scrollTop < nearTop && !last.current.there) void app.talk.earlier();
  };
  return { there, news, scrolled, jump };
}
