// The connection as the user sees it: away and back are shown, everything else is silence. Pure.

export type Link = {
  readonly phase: "opening" | "live" | "away" | "back";
  /** The life of the gateway that was heard last. */
  readonly boot: string | null;
  /** There is something to tell once the feed is caught up. */
  readonly gap: boolean;
};

export type LinkEvent =
  | { readonly type: "hello"; readonly boot: string | null }
  | { readonly type: "live" }
  | { readonly type: "lost" }
  | { readonly type: "settled" };

export const newLink: Link = { phase: "opening", boot: null, gap: false };

export function step(link: Link, event: LinkEvent): Link {
  switch (event.type) {
    case "hello": {
      const restarted = link.boot !== null && event.boot !== null && event.boot !== link.boot;
      return { ...link, boot: event.boot ?? link.boot, gap: link.gap || restarted };
    }
    case "live":
      if (link.gap) return { ...link, phase: "back", gap: false };
      return link.phase === "back" ? link : { ...link, phase: "live" };
    case "lost":
      // Before the first word there is nothing that could have been missed.
      return { ...link, phase: link.boot === null ? "opening" : "away", gap: link.boot !== null };
    case "settled":
      return link.phase === "back" ? { ...link, phase: "live" } : link;
  }
}

/** The pause before the n-th attempt in a row: a quarter of a second, doubling to five. */
export function pauseBefore(attempt: number): number {
  return Math.min(5_000, 250 * 2 ** Math.min(attempt, 10));
}
