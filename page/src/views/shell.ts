// The frame: conversations at the side, the open one in the middle, the state of the connection in its head.

import { type ComponentChild, h } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { App } from "../app.ts";
import { Composer } from "./composer.ts";
import { Denied } from "./denied.ts";
import { menu, plus } from "./icons.ts";
import { Sidebar } from "./sidebar.ts";
import { Timeline } from "./timeline.ts";

export function Shell({ app }: { readonly app: App }): ComponentChild {
  const drawer = app.drawer.value;
  useEffect(() => {
    if (!drawer) return;
    const leave = (event: KeyboardEvent) => event.key === "Escape" && (app.drawer.value = false);
    document.querySelector<HTMLElement>(".sidebar .new")?.focus();
    document.addEventListener("keydown", leave);
    return () => document.removeEventListener("keydown", leave);
  }, [drawer]);
  const why = app.denied.value;
  if (why !== null) return h(Denied, { app, why });
  return h(
    "div",
    { class: drawer ? "shell with-drawer" : "shell" },
    h(Sidebar, { app }),
    h("div", { class: "scrim", onClick: () => (app.drawer.value = false) }),
    h(Main, { app }),
  );
}

/** Files may be dropped anywhere on the conversation. */
function Main({ app }: { readonly app: App }): ComponentChild {
  const [over, setOver] = useState(false);
  const carries = (event: DragEvent) => event.dataTransfer?.types.includes("Files") === true;
  return h(
    "main",
    {
      inert: app.drawer.value,
      onDragOver: (event: DragEvent) => {
        if (!carries(event)) return;
        event.preventDefault();
        setOver(true);
      },
      onDragLeave: (event: DragEvent) => {
        const { currentTarget, relatedTarget } = event;
        if (!(currentTarget as Node).contains(relatedTarget as Node | null)) setOver(false);
      },
      onDrop: (event: DragEvent) => {
        if (!carries(event)) return;
        event.preventDefault();
        setOver(false);
        app.files.add([...(event.dataTransfer?.files ?? [])]);
      },
    },
    h(Head, { app }),
    app.sandbox.value !== "" && h("p", { class: "notice", role: "note" }, app.sandbox.value),
    h(Timeline, { app }),
    // Before a conversation is chosen there is nowhere to send to.
    app.talk.chat.value !== "" && h(Composer, { app }),
    over && h("div", { class: "drop", "aria-hidden": "true" }, h("p", {}, "Drop files to attach them")),
  );
}

function Head({ app }: { readonly app: App }): ComponentChild {
  const { drawer } = app;
  // On a small screen their cards are behind the button.
  const isAsked = app.people.waiting.value.length > 0;
  return h(
    "header",
    { class: "head" },
    h(
      "button",
      {
        type: "button",
        class: "quiet only-narrow",
        "aria-label": isAsked ? "Conversations; somebody asks to be let in" : "Conversations",
        "aria-expanded": drawer.value,
        "aria-controls": "sidebar",
        onClick: () => (drawer.value = !drawer.value),
      },
      menu(),
      isAsked && h("span", { class: "unread" }),
    ),
    h("h2", { dir: "auto" }, app.title.value),
    h(Status, { app }),
    h(
      "button",
      { type: "button", class: "quiet only-narrow", "aria-label": "New conversation", onClick: () => app.fresh() },
      plus(),
    ),
  );
}

function Status({ app }: { readonly app: App }): ComponentChild {
  const { phase } = app.talk.link.value;
  const words = { opening: "Connecting…", live: "", away: "Reconnecting…", back: "Back. Nothing was lost." }[phase];
  const title = { opening: "", live: "Connected", away: "The gateway does not answer", back: "Connected" }[phase];
  return h("div", { class: `status ${phase}`, role: "status", title }, h("i", {}), h("span", {}, words));
}
