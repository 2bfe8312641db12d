// The few drawings of the page, as strokes in the colour of the text around them.

import { type ComponentChild, h } from "preact";

function stroke(...paths: readonly string[]): ComponentChild {
  return h(
    "svg",
    { class: "icon", viewBox: "0 0 24 24", "aria-hidden": "true" },
    paths.map((d) => h("path", { d })),
  );
}

/** A turn that goes on: an open ring and the point that closes it. */
export const mark = (): ComponentChild =>
  h(
    "svg",
    { class: "mark", viewBox: "0 0 24 24", "aria-hidden": "true" },
    h("path", { d: "M19.6 8.2A8.5 8.5 0 1 0 20.5 12" }),
    h("circle", { class: "dot", cx: "12", cy: "12", r: "2.6" }),
  );

export const menu = (): ComponentChild => stroke("M4 7h16", "M4 12h16", "M4 17h10");
export const plus = (): ComponentChild => stroke("M12 5v14", "M5 12h14");
export const arrowUp = (): ComponentChild => stroke("M12 19V5", "M6 11l6-6 6 6");
export const arrowDown = (): ComponentChild => stroke("M12 5v14", "M6 13l6 6 6-6");
export const check = (): ComponentChild => stroke("M5 12.5l4.5 4.5L19 7.5");
export const clock = (): ComponentChild => stroke("M12 3.5a8.5 8.5 0 1 0 0 17 8.5 8.5 0 0 0 0-17z", "M12 7.5V12l3 2");
export const copy = (): ComponentChild => stroke("M9 9h10v11H9z", "M15 9V4H5v11h4");
export const close = (): ComponentChild => stroke("M6 6l12 12", "M18 6L6 18");
export const clip = (): ComponentChild =>
  stroke("M19 11.5l-7.2 7.2a4.6 4.6 0 0 1-6.5-6.5l7.6-7.6a3 3 0 0 1 4.3 4.3l-7.5 7.5a1.5 1.5 0 0 1-2.1-2.1l6.7-6.7");
export const paper = (): ComponentChild => stroke("M6 3.5h8l4.5 4.5v12.5H6z", "M14 3.5V8h4.5");
export const square = (): ComponentChild => stroke("M7.5 7.5h9v9h-9z");
export const turn = (): ComponentChild => stroke("M20 12a8 8 0 1 1-2.6-5.9", "M20.5 3.5v4.2h-4.2");
export const sun = (): ComponentChild =>
  stroke(
    "M12 8a4 4 0 1 0 0 8 4 4 0 0 0 0-8z",
    "M12 2.5v2M12 19.5v2M2.5 12h2M19.5 12h2M5.3 5.3l1.4 1.4M17.3 17.3l1.4 1.4M5.3 18.7l1.4-1.4M17.3 6.7l1.4-1.4",
  );
export const moon = (): ComponentChild => stroke("M20 14.5A8.5 8.5 0 0 1 9.5 4a8.5 8.5 0 1 0 10.5 10.5z");
export const halves = (): ComponentChild =>
  stroke("M12 3.5a8.5 8.5 0 1 0 0 17 8.5 8.5 0 0 0 0-17z", "M12 3.5v17", "M12 8l6-2.5M12 12.5l8-3.5M12 17l7.5-3");
