// Below an answer: its time and buttons, and on demand what was done for it, loaded from the gateway when it is opened.

import { type ComponentChild, Fragment, h } from "preact";
import { useId, useState } from "preact/hooks";
import type { App } from "../app.ts";
import { toolLine } from "../views/body.ts";
import { spanOf, type Steps, stepsLabel } from "./calls.ts";

type EndingProps = {
  readonly app: App;
  readonly turn: string;
  /** What stands beside its button. */
  readonly before: ComponentChild;
  readonly after: ComponentChild;
};

type Loaded = Steps | "loading" | "failed";

export function Ending({ app, turn, before, after }: EndingProps): ComponentChild {
  const id = useId();
  const [open, setOpen] = useState(false);
  const [loaded, setLoaded] = useState<Loaded | null>(null);

  const toggle = async () => {
    setOpen(!open);
    if (open) return;
    // Asked each time: a turn may have gone on since.
    if (loaded === null || loaded === "failed") setLoaded("loading");
    const answer = await app.steps(turn);
    setLoaded((was) => (answer.type === "got" ? answer.value : was === "loading" ? "failed" : was));
  };

  return h(
    Fragment,
    {},
    h(
      "footer",
      {},
      before,
      h(
        "button",
        {
          type: "button",
          class: open ? "quiet copy steps-open" : "quiet copy",
          "aria-expanded": open,
          "aria-controls": id,
          title: "What was done for this answer",
          onClick: () => void toggle(),
        },
        isSteps(loaded) ? stepsLabel(loaded) : "Steps",
      ),
      after,
    ),
    open && h("div", { class: "body steps", id, role: "region", "aria-label": "What was done" }, h(List, { loaded })),
  );
}

function List({ loaded }: { readonly loaded: Loaded | null }): ComponentChild {
  if (loaded === "failed")
    return h("p", { role: "status" }, "The gateway did not answer. Close and open it to try again.");
  if (!isSteps(loaded)) return h("p", { role: "status" }, "Loading…");
  if (loaded.count === 0) return h("p", { role: "status" }, "No tool was used.");
  const before = loaded.count - loaded.lines.length;
  return h(
    "ul",
    { class: "tools" },
    before > 0 && h("li", { class: "ended" }, h("code", {}, `… and ${before} more before`)),
    loaded.lines.map((line) => toolLine(line, line.took === null ? "" : spanOf(line.took))),
  );
}

function isSteps(loaded: Loaded | null): loaded is Steps {
  return typeof loaded === "object" && loaded !== null;
}
