// Watches for a marker that names this process, and asks for the stop exactly once, on the event loop like any other
// request. File events make it quick; a look every half second makes it certain where events do not come, on any system.
// It keeps nobody alive, survives every error of the file system, and leaves nothing open when it ends.

import { type FSWatcher, statSync, watch } from "node:fs";
import { basename, dirname } from "node:path";
import { sentenceOf } from "../core/fault.ts";
import type { Facts, LogLevel } from "../ports/world.ts";
import type { ProcessIdentity } from "./identity.ts";
import {
  type Found,
  type Judgement,
  type Marker,
  type MarkerFiles,
  type MarkerKind,
  judgeMarker,
  markerKinds,
  readMarker,
  removeStale,
} from "./markers.ts";

export type WatchOptions = {
  readonly files: MarkerFiles;
  readonly self: ProcessIdentity;
  /** Lanes are open: running, degraded or in safe mode. Until then a marker is kept. */
  isOpen(): boolean;
  /** A stop is under way already, whoever asked for it. */
  isDraining(): boolean;
  fire(kind: MarkerKind, marker: Marker): void;
  log(level: LogLevel, what: string, facts?: Facts): void;
  now(): number;
  readonly intervalMs?: number;
};

export type Watch = {
  /** Looks at once, as when lanes have opened. */
  look(): void;
  /** Nothing is fired afterwards. */
  stop(): Promise<void>;
  /** After the one shot, or after `stop`. */
  readonly done: Promise<void>;
};

export type Sight = { readonly fire: MarkerKind | null; readonly remove: readonly MarkerKind[] };

/** What follows from what the markers mean, in the order in which they are asked. */
export function decideSight(
  judgements: Readonly<Record<MarkerKind, Judgement>>,
  life: { readonly open: boolean; readonly draining: boolean },
): Sight {
  const mayFire = life.open && !life.draining;
  return {
    fire: mayFire ? (markerKinds.find((kind) => judgements[kind] === "self") ?? null) : null,
    remove: markerKinds.filter((kind) => judgements[kind] === "stale"),
  };
}

/** The store works in the same folder, and each of its writes is an event. More than these and the poll must do. */
const strangersMax = 200;
/** Looks without events after that, or after events could not be had. */
const pauseLooks = 20;
/** Different complaints; the same one is made once. */
const complaintsMax = 20;

export function watchMarkers(options: WatchOptions): Watch {
  const { files, self, log, intervalMs = 500 } = options;
  const { promise: done, resolve: finish } = Promise.withResolvers<void>();
  const complaints = new Set<string>();
  let ended = false;
  let wake = () => {};

  const complain = (what: string) => {
    if (complaints.has(what) || complaints.size >= complaintsMax) return;
    complaints.add(what);
    log("warn", what);
  };
  const events = fileEvents(files, () => wake(), complain);
  const end = () => {
    ended = true;
    events.close();
    wake();
    finish();
  };

  const look = async () => {
    const found = { takeOver: await read(files.takeOver), plannedStop: await read(files.plannedStop) };
    // Read first, asked afterwards: what is decided is true at this moment.
    const now = options.now();
    const judge = (kind: MarkerKind) => judgeMarker(found[kind], self, now);
    const judgements = { takeOver: judge("takeOver"), plannedStop: judge("plannedStop") };
    const sight = decideSight(judgements, { open: options.isOpen(), draining: options.isDraining() });
    for (const kind of markerKinds)
      if (judgements[kind] === "unreadable") complain(unreadable(files[kind], found[kind]));
    const named = sight.fire === null || ended ? null : found[sight.fire];
    if (sight.fire !== null && named?.type === "found") {
      end();
      options.fire(sight.fire, named.marker);
      return;
    }
    for (const kind of sight.remove) {
      await removeStale(files[kind], self, now);
      log("info", `The marker ${files[kind]} was stale and has been removed.`);
    }
  };
  const loop = async () => {
    while (!ended) {
      events.renew();
      const woken = new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, intervalMs);
        timer.unref();
        wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
      try {
        await look();
      } catch (error) {
        complain(`Looking for a marker failed (${sentenceOf(error)}); it is tried again.`);
      }
      await woken;
    }
  };
  void loop();
  const stop = () => {
    end();
    return done;
  };
  return { look: () => wake(), stop, done };
}

/** Mostly there is none. An idle gateway does nothing else twice a second, so it must cost next to nothing. */
async function read(path: string): Promise<Found> {
  return isAbsent(path) ? { type: "absent" } : readMarker(path);
}

function isAbsent(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false }) === undefined;
  } catch (error) {
    // Reading it says what is wrong.
    if (error instanceof Error) return false;
    throw error;
  }
}

function unreadable(path: string, found: Found): string {
  const why = found.type === "unreadable" ? found.why : "it changed";
  return `The marker ${path} cannot be understood (${why}) and is not followed; remove it if it stays.`;
}

type FileEvents = { renew(): void; close(): void };

/** Events of the folders that hold the markers. A folder that is too busy, or cannot be watched, is left alone a while. */
function fileEvents(files: MarkerFiles, seen: () => void, complain: (what: string) => void): FileEvents {
  const names = new Set(markerKinds.map((kind) => basename(files[kind])));
  const folders = new Set(markerKinds.map((kind) => dirname(files[kind])));
  let open: FSWatcher[] = [];
  let strangers = 0;
  let pause = 0;
  const close = () => {
    for (const one of open) one.close();
    open = [];
  };
  const rest = () => {
    close();
    pause = pauseLooks;
  };
  const onEvent = (name: string | null) => {
    if (name === null || names.has(name)) seen();
    else if (++strangers > strangersMax) rest();
  };
  return {
    close,
    renew() {
      strangers = 0;
      if (open.length > 0 || pause-- > 0) return;
      pause = 0;
      try {
        for (const folder of folders) {
          const one = watch(folder, { persistent: false }, (_event, name) => onEvent(name));
          open.push(one);
          one.on("error", (error) => {
            complain(`The folder ${folder} cannot be watched any longer (${sentenceOf(error)}).`);
            rest();
          });
        }
      } catch (error) {
        complain(`Markers are looked for only twice a second: their folder cannot be watched (${sentenceOf(error)}).`);
        rest();
      }
    },
  };
}
