// The browsers that are signed in, at the foot of the sidebar, each with a button that signs it out.

import { type ComponentChild, h } from "preact";
import type { App } from "../app.ts";
import { recent } from "../views/words.ts";
import type { Device } from "./devices.ts";

export function Devices({ app }: { readonly app: App }): ComponentChild {
  const { isOpen, all, trouble } = app.devices;
  return h(
    "details",
    {
      class: "devices",
      open: isOpen.value,
      onToggle: (event: Event) => {
        isOpen.value = (event.currentTarget as HTMLDetailsElement).open;
        void app.devices.look();
      },
    },
    h("summary", {}, "Signed-in browsers"),
    h("p", { class: "standing", role: "status" }, trouble.value),
    h(
      "ul",
      {},
      (all.value ?? []).map((one) => h(Row, { key: one.id, app, one })),
    ),
  );
}

function Row({ app, one }: { readonly app: App; readonly one: Device }): ComponentChild {
  return h(
    "li",
    {},
    h("span", { class: "name", title: one.name }, one.name),
    h("span", { class: "hint" }, one.isCurrent ? "This browser" : `Last used: ${recent(one.seenAt, Date.now())}`),
    h(
      "button",
      {
        type: "button",
        class: "pill",
        "aria-label": `Sign out ${one.isCurrent ? "this browser" : one.name}`,
        onClick: () => void app.devices.revoke(one.id),
      },
      "Sign out",
    ),
  );
}
