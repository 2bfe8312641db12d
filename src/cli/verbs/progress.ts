// What is still being done while a gateway stops, as people see it: which turns run, at which step, how long they have
// left. The words are pure; `display` only decides where they go: redrawn in place on a terminal, a line for each change
// otherwise, JSON lines where that was asked for.

import type { StatusReply } from "../../control/protocol.ts";
import { type Output, fit, lasting, paint, plainText } from "../print.ts";

export type Progress = {
  readonly state: string;
  readonly reason: string | null;
  readonly running: readonly {
    readonly turn: string;
    readonly session: string;
    readonly steps: number;
    readonly forMs: number;
  }[];
  /** Messages on their way out; what cannot be sent now is sent after the next start. */
  readonly toSend: number;
  /** How long running turns may go on before they are interrupted; null where that is not known. */
  readonly leftMs: number | null;
};

export function progressOf(status: StatusReply, now: number): Progress {
  const leftMs = status.draining === null ? null : Math.max(0, status.draining.until - now);
  return {
    state: status.state,
    reason: status.reason,
    running: status.running.map(({ turn, session, steps, startedAt }) => ({
      turn,
      session,
      steps,
      forMs: Math.max(0, now - startedAt),
    })),
    toSend: status.counts.items.sending,
    leftMs,
  };
}

/** The first line says how much is left to do, the others what. */
export function progressLines({ running, toSend, leftMs }: Progress): readonly string[] {
  const send = toSend === 0 ? "" : `; ${toSend} message${toSend === 1 ? "" : "s"} on the way out`;
  if (running.length === 0) return [`Nothing runs any more; closing${send}.`];
  const turns = `${running.length} turn${running.length === 1 ? " runs" : "s run"}`;
  const fate = "then interrupted, to go on at the next start";
  const left = leftMs === null ? "" : leftMs === 0 ? "; being interrupted" : `, at most ${wait(leftMs)} more; ${fate}`;
  return [
    `${turns}${left}${send}.`,
    ...running.map(
      (one) => `  turn ${one.turn} of session ${one.session}: step ${one.steps + 1}, for ${lasting(one.forMs)}`,
    ),
  ];
}

/** Rounded up, so that nobody is told 0 s while something still runs. */
function wait(ms: number): string {
  return ms < 60_000 ? `${Math.ceil(ms / 1000)} s` : lasting(ms);
}

export type Display = {
  show(progress: Progress): void;
  /** A remark that stays. */
  say(text: string): void;
  /** The result, in the place of whatever was shown live. */
  finish(result: Readonly<Record<string, unknown>>, text: string): void;
};

/** More lines than this could not be drawn again on a small screen. */
const linesMax = 12;

export function display(output: Output, isJson: boolean): Display {
  let drawn = 0;
  let before = "";
  let isBusy = false;
  /** Back to where the live part began, and clean from there on. */
  const erase = () => {
    const back = drawn === 0 ? "" : `\u001B[${drawn}A\u001B[J`;
    drawn = 0;
    return back;
  };
  return {
    show(progress) {
      if (isJson) return output.out(JSON.stringify({ event: "progress", ...progress }));
      isBusy ||= progress.running.length > 0 || progress.toSend > 0;
      // That nothing runs any more is news only where something ran.
      if (!isBusy) return;
      const all = progressLines(progress).map((line) => fit(plainText(line), output.columns));
      // Without the seconds, which change all the time.
      const news = JSON.stringify([progress.state, progress.running.map((one) => [one.turn, one.steps])]);
      if (!output.tty && news === before) return;
      before = news;
      const more = all.length - linesMax + 1;
      const lines = output.tty && more > 1 ? [...all.slice(0, linesMax - 1), `  … and ${more} more`] : all;
      const back = erase();
      drawn = output.tty ? lines.length : 0;
      output.out(`${back}${lines.map((line) => paint(output, "dim", line)).join("\n")}`);
    },
    say(text) {
      const back = erase();
      if (back !== "") output.out(`${back}…`);
      output.err(isJson ? JSON.stringify({ event: "remark", text }) : text);
    },
    finish(result, text) {
      output.out(isJson ? JSON.stringify(result) : `${erase()}${text}`);
    },
  };
}
