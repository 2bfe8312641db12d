// Puts the parts of the page together: the open conversation, what is on its way, the list of conversations,
// and the browser's own events. Views read its signals and call its few verbs; they keep no state of the chat.

import { computed, effect, type ReadonlySignal, type Signal, signal } from "@preact/signals";
import { type Fates, fates } from "./asked/fates.ts";
import { usage } from "./asked/used.ts";
import { type ChatRow, chatOfHash, chatRows, hashOf, untitled } from "./chats.ts";
import { type Conversation, conversation } from "./conversation.ts";
import { type DeviceList, deviceList } from "./devices/devices.ts";
import { type Address, addresses } from "./files/addresses.ts";
import { type Attachments, attachments } from "./files/attachments.ts";
import type { Client, Fetched } from "./net/client.ts";
import { concernsCredential, type Credential, type Denial, entranceIn } from "./net/credential.ts";
import type { FileRef, Listed } from "./net/wire.ts";
import { type Outgoing, outgoing } from "./outgoing.ts";
import { type People, people } from "./people/people.ts";
import { concernsPending, type Keep, newId } from "./pending.ts";
import { cursorOf, type Feed, type FeedEvent, isWorking } from "./state.ts";
import { sandboxNotice } from "./sandbox.ts";
import type { Steps } from "./steps/calls.ts";
import { applyTheme, storedTheme, type Theme } from "./theme.ts";

export type App = {
  readonly talk: Conversation;
  readonly out: Outgoing;
  /** What will go with the next message. */
  readonly files: Attachments;
  readonly fates: Fates;
  readonly people: People;
  /** The model of the conversation and what it has used; empty where there is nothing to tell. */
  readonly used: ReadonlySignal<string>;
  /** Something the user said is being worked on. */
  readonly working: ReadonlySignal<boolean>;
  readonly rows: ReadonlySignal<readonly ChatRow[]>;
  readonly title: ReadonlySignal<string>;
  /** Why the gateway does not let this browser in; null when it does. */
  readonly denied: ReadonlySignal<Denial | null>;
  readonly devices: DeviceList;
  /** What is to be said about the sandbox of the tools; empty where all is well. */
  readonly sandbox: ReadonlySignal<string>;
  readonly theme: ReadonlySignal<Theme>;
  /** The list of conversations, where there is no room for it beside the chat. */
  readonly drawer: Signal<boolean>;
  /** Where a browser may open a file for now; null when the gateway did not answer. */
  address(file: FileRef, show: boolean): Promise<Address | null>;
  /** What was done in a turn. */
  steps(turn: string): Promise<Fetched<Steps>>;
  go(chat: string): void;
  fresh(): void;
  setTheme(theme: Theme): void;
  /** Asks again whether this browser is known. */
  retry(): void;
};

const listEveryMs = 15_000;
const soonMs = 250;
const restAfterMs = 30_000;
/** Another tab that wrote a message sends it itself; this one steps in only if it does not. */
const otherTabMs = 3_000;

export function createApp(win: Window, keep: Keep, client: Client, credential: Pick<Credential, "get">): App {
  const listed = signal<readonly Listed[]>([]);
  const denied = signal<Denial | null>(null);
  const drawer = signal(false);
  const theme = signal(storedTheme(keep));
  const talk = conversation({ client, denied: () => deny(), heard });
  const files = attachments({ client, keep, denied: () => deny() });
  const signed = addresses(client, () => deny());
  const devices = deviceList(client, () => deny());
  const wall = sandboxNotice(client);
  const asked = fates(client);
  const used = usage(client);
  const strangers = people(client);
  const out = outgoing({
    keep,
    client,
    chat: () => talk.chat.value,
    denied: () => deny(),
    stored: () => refreshSoon(),
    returned: ({ chat, files: given = [] }) => files.giveBack(chat, given),
  });
  // The open conversation is known here before the gateway's list has been asked again.
  const opening = computed(() => talk.feed.value.messages.find((one) => one.role === "user"));
  const rows = computed(() => {
    const first = opening.value === undefined ? [] : [{ ...opening.value, chat: talk.chat.value }];
    const spoken = [...first, ...out.unsent.value.map((one) => one.message)];
    return chatRows(listed.value, spoken, (chat) => keep.seen(chat), talk.chat.value);
  });
  const title = computed(() => rows.value.find((one) => one.chat === talk.chat.value)?.title ?? untitled);

  let soon: ReturnType<typeof setTimeout> | undefined;
  const refreshSoon = () => (soon ??= setTimeout(() => void refresh(), soonMs));

  function deny(why: Denial = credential.get() === null ? "no-link" : "signed-out"): void {
    // What is wrong with a link says more than that there is no credential.
    denied.value ??= why;
    talk.rest();
  }

  async function refresh(): Promise<void> {
    clearTimeout(soon);
    soon = undefined;
    const cursor = cursorOf(talk.feed.value);
    const answer = await client.list();
    if (answer.type === "denied") return deny();
    if (answer.type === "got") {
      if (denied.value !== null) {
        denied.value = null;
        talk.nudge();
      }
      listed.value = answer.value;
      talk.compare(answer.value, cursor);
      const { messages } = talk.feed.value;
      void asked.look(messages);
      void used.look(messages);
      void strangers.look();
      void devices.look();
      void wall.look();
    }
    if (talk.chat.value === "") choose();
  }

  /** The conversation with the newest message, else a new one. */
  function choose(): void {
    const chat = rows.value[0]?.chat ?? newId(crypto);
    // Not a step of the history: going back from here leaves the page.
    win.history.replaceState(null, "", hashOf(chat));
    show(chat);
  }

  function heard(batch: readonly FeedEvent[]): void {
    const messages = batch.filter((event) => event.type === "message").map((event) => event.message);
    out.seen(messages);
    const cursor = cursorOf(talk.feed.value);
    if (messages.length > 0 && cursor !== null && !win.document.hidden) keep.setSeen(talk.chat.value, cursor);
    if (batch.some((event) => event.type === "hello")) out.wake();
    const isNews = (event: FeedEvent) =>
      event.type === "hello" || event.type === "lost" || (event.type === "draft" && event.text === null);
    if (messages.length > 0 || batch.some(isNews)) refreshSoon();
  }

  function show(chat: string): void {
    out.flush();
    talk.open(chat);
    out.turnTo(chat);
    files.turnTo(chat);
    refreshSoon();
    drawer.value = false;
  }

  const app: App = {
    talk,
    out,
    files,
    fates: asked,
    people: strangers,
    used: used.words,
    working: computed(() => isWorking(talk.feed.value) || isBehind(used.workingAfter.value, talk.feed.value)),
    rows,
    title,
    denied,
    theme,
    drawer,
    devices,
    sandbox: wall.words,
    address: (file, show) => signed.get(client.filePath(talk.chat.value, file, show)),
    async steps(turn) {
      const answer = await client.steps(turn);
      if (answer.type === "denied") deny();
      return answer;
    },
    go: (chat) => (win.location.hash = hashOf(chat)),
    fresh: () => app.go(newId(crypto)),
    setTheme(next) {
      theme.value = next;
      keep.setSetting("theme", next === "system" ? null : next);
      applyTheme(next, win.document.documentElement);
    },
    retry() {
      denied.value = null;
      out.wake();
      talk.nudge(true);
      void refresh();
    },
  };

  async function enter(): Promise<void> {
    const why = await useEntrance(win, client, credential);
    denied.value = null;
    if (why !== null) deny(why);
    const named = chatOfHash(win.location.hash);
    if (talk.chat.value !== "") talk.nudge(true);
    else if (named !== null) show(named);
    out.wake();
    await refresh();
  }

  listenToWindow(win, app, { keep, show, refresh, enter });
  effect(() => void (win.document.title = `${title.value} · Everturn`));
  void enter();
  return app;
}

/** A link in the address is used at once and leaves it, whatever comes of it. Why it did not sign this browser in. */
async function useEntrance(win: Window, client: Client, credential: Pick<Credential, "get">): Promise<Denial | null> {
  const entrance = entranceIn(win.location.hash);
  if (entrance === null) return null;
  win.history.replaceState(null, "", win.location.pathname);
  const entered = entrance.type === "link" ? await client.signIn(entrance.secret) : "old-link";
  // A browser that is signed in already needs no other link.
  if (entered === "signed-in" || credential.get() !== null) return null;
  return entered === "later" ? "no-link" : entered;
}

/** Nothing was said since it was known to work. */
function isBehind(n: number | null, feed: Feed): boolean {
  return n !== null && cursorOf(feed) === n;
}

type Inner = {
  readonly keep: Keep;
  readonly show: (chat: string) => void;
  readonly refresh: () => Promise<void>;
  readonly enter: () => Promise<void>;
};

function listenToWindow(win: Window, app: App, inner: Inner): void {
  const { document } = win;
  let resting: ReturnType<typeof setTimeout> | undefined;
  win.addEventListener("hashchange", () => {
    const chat = chatOfHash(win.location.hash);
    if (chat !== null) inner.show(chat);
    else if (entranceIn(win.location.hash) !== null) void inner.enter();
  });
  win.addEventListener("online", () => {
    app.talk.nudge(true);
    app.out.wake();
  });
  win.addEventListener("storage", (event) => {
    if (concernsCredential(event.key) && app.denied.value !== null) app.retry();
    if (concernsPending(event.key)) {
      app.out.reread();
      setTimeout(() => app.out.wake(), otherTabMs);
    } else if (!document.hasFocus()) {
      app.out.turnTo(app.talk.chat.value);
    }
    app.setTheme(storedTheme(inner.keep));
  });
  document.addEventListener("visibilitychange", () => {
    clearTimeout(resting);
    if (document.hidden) {
      app.out.flush();
      resting = setTimeout(() => app.talk.rest(), restAfterMs);
      return;
    }
    app.talk.nudge();
    app.out.wake();
    void inner.refresh();
    const cursor = cursorOf(app.talk.feed.value);
    if (cursor !== null) inner.keep.setSeen(app.talk.chat.value, cursor);
  });
  win.addEventListener("pagehide", () => app.out.flush());
  setInterval(() => {
    if (!document.hidden && app.talk.link.value.phase !== "away") void inner.refresh();
  }, listEveryMs);
}
