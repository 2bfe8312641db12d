// A chat on a terminal with somebody in front of it: what was said scrolls up, the growing answer is rewritten in place
// above the line that is being typed. Owns the cursor between two key strokes; knows nothing of gateways.

import { type Interface, clearScreenDown, cursorTo, moveCursor } from "node:readline";
import { type Colour, type Output, paint, plainText, widthOf } from "../print.ts";

export type Terminal = NodeJS.WriteStream;

export type Screen = {
  /** Stays on the screen. */
  say(text: string, colour: Colour): void;
  /** A line was entered: it goes above the draft, where what was said is. */
  entered(line: string): void;
  /** Rewritten by the next one; null takes it away. */
  draft(text: string | null): void;
};

/** The rows between the draft and the top of the screen, and for a typed line that grows before the next drawing. */
const spareRows = 2;

export function screen(terminal: Terminal, typing: Interface, output: Pick<Output, "colour">): Screen {
  let latest: string | null = null;
  let draftLines: readonly string[] = [];

  /** To the first row of the draft, with everything from there on erased. `below`: rows from there to the cursor. */
  function clear(below: number): void {
    moveCursor(terminal, 0, -(below + rowsTaken(draftLines, terminal.columns)));
    cursorTo(terminal, 0);
    clearScreenDown(terminal);
  }

  function clearAll(): void {
    clear(cursorRow(typing.getCursorPos(), rowOfPrompt()));
  }

  /** The row of the typed line in which the prompt was drawn last; text that is pasted moves the cursor without drawing. */
  function rowOfPrompt(): number {
    return (typing as { readonly prevRows?: number }).prevRows ?? 0;
  }

  /** Draft and prompt below whatever is above. */
  function draw(): void {
    const typed = rowsTaken([`${typing.getPrompt()}${typing.line}`], terminal.columns);
    const room = Math.max(1, terminal.rows - typed - spareRows);
    draftLines = latest === null ? [] : lastRows(latest, terminal.columns, room);
    for (const line of draftLines) terminal.write(`${paint(output, "dim", line)}\n`);
    // The prompt goes up as many rows as it believes the cursor to be below its first one.
    terminal.write("\n".repeat(rowOfPrompt()));
    typing.prompt(true);
  }

  function write(text: string, colour: Colour | null): void {
    for (const row of rowsOf(text, terminal.columns))
      terminal.write(`${colour === null ? row : paint(output, colour, row)}\n`);
  }

  // Before the prompt draws itself anew: it would do so from where it was at the old width.
  terminal.prependListener("resize", () => {
    clearAll();
    draw();
  });

  return {
    entered(line) {
      const shown = `${typing.getPrompt()}${line}`;
      clear(Math.floor(widthOf(shown) / Math.max(1, terminal.columns)) + 1);
      write(shown, null);
      draw();
    },
    say(text, colour) {
      clearAll();
      write(text, colour);
      draw();
    },
    draft(text) {
      clearAll();
      latest = text === null ? null : plainText(text);
      draw();
    },
  };
}

/**
 * How far the cursor is below the first row of the typed line. Pasted text that fills its row to the end leaves the
 * cursor in that row, although the next character will stand in the next one.
 */
export function cursorRow(at: { readonly rows: number; readonly cols: number }, drawn: number): number {
  return at.cols === 0 && at.rows > drawn ? at.rows - 1 : at.rows;
}

/** Rows that lines take which were written for another width: terminals break again what has become too long. */
export function rowsTaken(lines: readonly string[], columns: number): number {
  return lines.reduce((sum, line) => sum + Math.max(1, Math.ceil(widthOf(line) / Math.max(1, columns))), 0);
}

/** The end of a text as rows of a terminal. */
export function lastRows(text: string, columns: number, count: number): readonly string[] {
  return rowsOf(text.split("\n").slice(-count).join("\n"), columns).slice(-count);
}

/** A text as rows of a terminal, broken between words. The last column stays free: some terminals go on from it early. */
export function rowsOf(text: string, columns: number): readonly string[] {
  const lines = text.replaceAll("\t", "  ").split("\n");
  return lines.flatMap((line) => wrap(line, Math.max(1, columns - 1)));
}

function wrap(line: string, columns: number): readonly string[] {
  const rows: string[] = [];
  let row = "";
  let width = 0;
  for (const character of line) {
    const own = widthOf(character);
    if (row !== "" && width + own > columns) {
      const [full, rest] = character === " " ? [row, ""] : broken(row);
      rows.push(full.trimEnd());
      row = rest;
      width = widthOf(rest);
    }
    // The space at which a row was broken is not shown.
    if (character === " " && row === "" && rows.length > 0) continue;
    row += character;
    width += own;
  }
  return [...rows, row];
}

/** A row that is full, and what of it goes into the next one: its last word, unless it is all there is. */
function broken(row: string): readonly [string, string] {
  const space = row.lastIndexOf(" ");
  return row.slice(0, Math.max(0, space)).trim() === "" ? [row, ""] : [row.slice(0, space), row.slice(space + 1)];
}
