// Numbers for choices are the terminal's own: whoever types one while a question is the last thing that was said means the
// choice that is shown with it. The gateway hears the words, because a number alone allows nothing.

import type { Message } from "../../core/message.ts";

export interface Choices {
  shown(message: Message): void;
  /** The words to send for a line. */
  read(line: string): string;
}

export function choices(): Choices {
  let open: readonly string[] = [];
  return {
    shown({ question }) {
      open = question?.choices ?? [];
    },
    read: (line) => (/^\s*\d+\s*$/.test(line) ? (open[Number(line) - 1] ?? line) : line),
  };
}
