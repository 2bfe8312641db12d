// What belongs to one run of a turn, handed to whatever does a part of it.

import type { Outlet } from "../outbox/pump.ts";
import type { Parts } from "../parts.ts";
import type { Wakeable } from "../timers.ts";
import type { Book } from "./book.ts";
import type { Draft } from "./drafts.ts";
import type { Running } from "./run.ts";

export type Work = {
  readonly parts: Parts;
  readonly outlet: Outlet;
  readonly timers: Wakeable;
  readonly running: Running;
  readonly book: Book;
  readonly preview: Draft;
};
