// The conversations, newest first, and the look of the page.

import { type ComponentChild, h } from "preact";
import type { App } from "../app.ts";
import { type ChatRow, hashOf } from "../chats.ts";
import { Devices } from "../devices/views.ts";
import { Strangers } from "../people/cards.ts";
import { type Theme, themes } from "../theme.ts";
import { halves, mark, moon, plus, sun } from "./icons.ts";
import { sr } from "./message.ts";
import { recent } from "./words.ts";

export function Sidebar({ app }: { readonly app: App }): ComponentChild {
  const current = app.talk.chat.value;
  return h(
    "aside",
    { class: "sidebar", id: "sidebar", "aria-label": "Conversations" },
    h("div", { class: "brand" }, mark(), h("h1", {}, "Everturn")),
    h("button", { type: "button", class: "new", onClick: () => app.fresh() }, plus(), "New conversation"),
    h(
      "nav",
      { "aria-label": "Conversations" },
      h(
        "ul",
        {},
        app.rows.value.map((row) => h(Item, { key: row.chat, row, current: row.chat === current })),
      ),
    ),
    h(Strangers, { app }),
    h(Devices, { app }),
    h(ThemeChoice, { app }),
  );
}

function Item({ row, current }: { readonly row: ChatRow; readonly current: boolean }): ComponentChild {
  return h(
    "li",
    {},
    h(
      "a",
      { href: hashOf(row.chat), "aria-current": current ? "page" : undefined, title: row.title },
      h("span", { class: "name", dir: "auto" }, row.title),
      row.unread ? h("span", { class: "unread" }, sr("New messages")) : h("time", {}, recent(row.activeAt, Date.now())),
    ),
  );
}

function ThemeChoice({ app }: { readonly app: App }): ComponentChild {
  const labels: { readonly [name in Theme]: string } = { system: "As the system", light: "Light", dark: "Dark" };
  const icons = { system: halves, light: sun, dark: moon };
  return h(
    "div",
    { class: "themes", role: "group", "aria-label": "Appearance" },
    themes.map((theme) =>
      h(
        "button",
        {
          type: "button",
          title: labels[theme],
          "aria-label": labels[theme],
          "aria-pressed": app.theme.value === theme,
          onClick: () => app.setTheme(theme),
        },
        icons[theme](),
      ),
    ),
  );
}
