// A chat on a terminal with somebody in front of it: what was said scrolls up, the growing answer is rewritten in place
// above the line that is being typed. Owns the cursor between two key strokes; knows nothing of gateways.

import { type Interface, clearScreenDown, cursorTo, moveCursor } from "node:readline";
import { type Output, fit, plainText, widthOf } from "../print.ts";

export type Terminal = NodeJS.WriteStream;

export type Screen = {
  /** Stays on the screen. */
  say(text: string): void;
  /** A line was entered: it goes above the draft, where what was said is. */
  entered(line: string): void;
  /** Rewritten by the next one; null takes it away. */
  draft(text: string | null): void;
};

export function screen(terminal: Terminal, typing: Interface, output: Pick<Output, "colour">): Screen {
  let draftLines: readonly string[] = [];

  /** To the first row of the draft, with everything from there on erased. */
  function clear(): void {
    const { rows } = typing.getCursorPos();
    moveCursor(terminal, 0, -(rows + draftLines.length));
    cursorTo(terminal, 0);
    clearScreenDown(terminal);
  }

  /** Draft and prompt below whatever is above. */
  function draw(): void {
    for (const line of draftLines) terminal.write(`${dim(line)}\n`);
    // The prompt is drawn as many rows up as the cursor was below its first row.
    terminal.write("\n".repeat(typing.getCursorPos().rows));
    typing.prompt(true);
  }

  function dim(text: string): string {
    return output.colour ? `\u001B[2m${text}\u001B[0m` : text;
  }

  return {
    entered(line) {
      const shown = `${typing.getPrompt()}${line}`;
      const rows = Math.max(1, Math.ceil(widthOf(shown) / Math.max(1, terminal.columns)));
      moveCursor(terminal, 0, -(rows + draftLines.length));
      cursorTo(terminal, 0);
      clearScreenDown(terminal);
      terminal.write(`${shown}\n`);
      draw();
    },
    say(text) {
      clear();
      terminal.write(`${text}\n`);
      draw();
    },
    draft(text) {
      clear();
      draftLines = text === null ? [] : lastRows(plainText(text), terminal.columns, Math.max(1, terminal.rows - 3));
      draw();
    },
  };
}

/** The end of a text as rows of a terminal. */
export function lastRows(text: string, columns: number, count: number): readonly string[] {
  const rows: string[] = [];
  for (const line of text.replaceAll("\t", "  ").split("\n").slice(-count))
    rows.push(...wrap(line, Math.max(1, columns - 1)));
  return rows.slice(-count);
}

function wrap(line: string, columns: number): readonly string[] {
  const rows: string[] = [];
  let rest = line;
  while (widthOf(rest) > columns) {
    const row = fit(rest, columns + 1).slice(0, -1) || rest.slice(0, 1);
    rows.push(row);
    rest = rest.slice(row.length);
  }
  return [...rows, rest];
}
