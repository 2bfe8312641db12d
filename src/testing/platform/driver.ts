// What a test of a platform is given: the platform, and a driver for its far side, the user's. Only the first members must be
// there. Each of the others opens tests of its own, and is left out where the platform has no such thing.

import type { Address, Hints } from "../../core/message.ts";
import type { OutboxItem } from "../../core/outbox.ts";
import type { Platform } from "../../ports/platform.ts";

/**
 * What the user's side was told about a message. `refused`: it was not taken and has to be offered again, because it could
 * not be stored or because nobody listens. A far side with a backlog keeps it then, and offers it by itself.
 */
export type Receipt = "acknowledged" | "refused";

/**
 * How the next request to the far side that sends, edits or places a message goes wrong, once:
 * - `rate`: it is refused because there were too many, with a pause of two seconds (429 and its like);
 * - `server`: an error of the server (5xx), and the message did not appear;
 * - `html`: an error page of a proxy in the place of an answer, and the message did not appear;
 * - `dropped-before`: the connection breaks before the message appears;
 * - `dropped-after`: the message appears, and the connection breaks before the answer;
 * - `denied`: from now on, our token is not known any more.
 */
export type Failure = "rate" | "server" | "html" | "dropped-before" | "dropped-after" | "denied";

export type OpenedPlatform = {
  readonly platform: Platform;
  /** Where the user of this driver is: what `say` is from. */
  readonly home: Address;
  /** What the platform wants back on whatever is sent there; what `hints` of a message said there would be. */
  readonly hints?: Hints;
  /** A user writes; resolves when the platform's side has its receipt. */
  readonly say: (text: string) => Promise<Receipt>;
  /** The message said last comes again, as the platform does when it saw no receipt or a refusal. */
  readonly redeliver: () => Promise<Receipt>;
  /** Called before each send: the engine stores the item, and its line of the transcript, before it is sent. */
  readonly stored: (item: OutboxItem) => Promise<void>;
  /** The texts that stand in front of the user now, oldest first: an edited one as it is now, a removed one not at all. */
  readonly seen: () => Promise<readonly string[]>;
  /** Breaks the connection to the far side for good; absent where there is none. */
  readonly breakOff?: () => Promise<void>;
  readonly close: () => Promise<void>;

  /** Texts that users can write there; absent where they can write anything. */
  readonly writable?: readonly string[];
  /** How large a part is as the platform draws it, and how large it may be. */
  readonly limit?: { readonly max: number; readonly measure: (part: string) => number };

  /**
   * A new life of the platform, as after a kill: another object with the same settings, and the same far side. The old one
   * is never used again. It will listen from this cursor.
   */
  readonly reopen?: (cursor: string | null) => Promise<Platform>;
  /** The far side keeps what is written while nobody listens, and hands it over to whoever listens next. */
  readonly hasBacklog?: true;
  /** Writes in a thread of the same chat, which begins with its first message; any name may be given. */
  readonly sayIn?: (thread: string, text: string) => Promise<Receipt>;
  /** The texts that stand in that thread now. */
  readonly seenIn?: (thread: string) => Promise<readonly string[]>;
  /** Writes where several people are; `called`: with a mention of us, as people write one there, before the text. */
  readonly sayInGroup?: (text: string, called: boolean) => Promise<Receipt>;
  /** Our own account writes, from another client or as an echo of what we have sent; "acknowledged" when it is ignored. */
  readonly sayAsSelf?: (text: string) => Promise<Receipt>;
  /** The user changes the words of the message said last. */
  readonly edit?: (text: string) => Promise<Receipt>;
  /** Presses the button with these words, below the message seen last. */
  readonly press?: (choice: string) => Promise<Receipt>;
  readonly failNext?: (kind: Failure) => void | Promise<void>;
  /** Nobody can reach the far side: what was open breaks, and nothing new can be opened, until it comes back. */
  readonly goDown?: () => Promise<void>;
  readonly comeBack?: () => Promise<void>;
};
export type OpenPlatform = () => Promise<OpenedPlatform>;
