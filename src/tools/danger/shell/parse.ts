// Reads a shell script into what would run. Pure. It knows the grammar of a POSIX shell and what bash adds to it as far as
// it decides what runs; the branches of conditions and loops are read as if each of them were taken.

import type { Awaited, Closing, Command, Pipeline, Redirect, Script, Word } from "./script.ts";
import {
  Cursor,
  type Readers,
  Unreadable,
  readLines,
  readNumber,
  readQuoted,
  readSpoken,
  readWord,
  textOf,
} from "./words.ts";

/** Words that open, join or close something at the place of a command, and run nothing themselves. */
const joining = new Set(["if", "then", "elif", "else", "fi", "while", "until", "do", "done", "!", "time", "coproc"]);

/** Throws `Unreadable` for what no shell would run as it stands. */
export function readScript(text: string, depth = 0): Script {
  const reader = new Reader(new Cursor(text, depth));
  const script = reader.list("");
  if (!reader.cursor.isDone) throw new Unreadable(`there is a ${reader.cursor.next} too many`);
  return script;
}

const readers: Readers = {
  inside: (cursor) => {
    const reader = new Reader(new Cursor(cursor.text, cursor.depth + 1, cursor.tries));
    reader.cursor.at = cursor.at;
    const script = reader.list(")");
    cursor.at = reader.cursor.at;
    if (!cursor.takes(")")) throw new Unreadable("a ) is missing");
    return script;
  },
  whole: readScript,
};

class Reader {
  readonly cursor: Cursor;
  /** Texts that begin after the next line break. */
  #awaited: Awaited[] = [];

  constructor(cursor: Cursor) {
    this.cursor = cursor;
  }

  /** Everything up to what closes it, which is left for the caller. */
  list(closing: Closing): Script {
    const pipelines: Pipeline[] = [];
    let after: Pipeline["after"] = ";";
    let isNegated = false;
    for (;;) {
      this.#blank(true);
      if (this.cursor.isDone || this.#closes(closing)) break;
      const joint = (["&&", "||"] as const).find((one) => this.cursor.takes(one));
      if (joint !== undefined || /[;&|]/.test(this.cursor.next)) {
        if (joint === undefined) this.cursor.at += 1;
        after = joint === undefined || isNegated ? ";" : joint;
        continue;
      }
      if (this.cursor.next === ")") break;
      isNegated = this.cursor.seesWord("!");
      pipelines.push(this.#pipeline(closing, after));
      after = ";";
    }
    if (this.#awaited.length > 0) throw new Unreadable("a text that was announced with << is missing");
    return pipelines;
  }

  #closes(closing: Closing): boolean {
    if (closing === ";;") return this.cursor.sees(";;") || this.cursor.sees(";&") || this.cursor.seesWord("esac");
    return closing === "}" ? this.cursor.seesWord("}") : closing !== "" && this.cursor.sees(closing);
  }

  #pipeline(closing: Closing, after: Pipeline["after"]): Pipeline {
    const commands: Command[] = [];
    for (;;) {
      this.#blank(commands.length > 0);
      commands.push(...this.cursor.deeper(() => this.#command(closing)));
      this.#blank(false);
      if (this.cursor.sees("||") || !this.cursor.takes("|")) break;
      // |& carries the errors along.
      this.cursor.takes("&");
    }
    return { commands, background: this.cursor.next === "&" && !this.cursor.sees("&&"), after };
  }

  /** Several where one word of the grammar makes several, as a loop and its first command do. */
  #command(closing: Closing): readonly Command[] {
    const number = this.cursor.sees("((") ? readNumber(this.cursor, readers) : null;
    if (number !== null) return [{ type: "simple", words: [condition, [number]], redirects: [] }];
    if (this.cursor.takes("(")) return [this.#group(")", true)];
    for (;;) {
      const start = this.cursor.at;
      const keyword = /^[a-z!{[]+(?=[\s;&|<>()]|$)/.exec(this.cursor.text.slice(start, start + 16))?.[0] ?? "";
      if (keyword === "{") {
        this.cursor.at += 1;
        return [this.#group("}", false)];
      }
      if (keyword === "[[") return [this.#condition()];
      if (keyword === "case") return [this.#case()];
      if (keyword === "for" || keyword === "select") return [this.#loop(keyword)];
      if (keyword === "function") {
        this.cursor.at += keyword.length;
        this.#blank(false);
        const name = textOf(readWord(this.cursor, readers));
        this.#blank(false);
        if (this.cursor.takes("(") && !this.cursor.takes(")")) throw new Unreadable("a ) is missing");
        return [this.#function(name, closing)];
      }
      if (!joining.has(keyword)) return [this.#simple(closing)];
      this.cursor.at += keyword.length;
      this.#blank(true);
      if (this.cursor.isDone || this.#closes(closing) || /[;&|)]/.test(this.cursor.next))
        return [{ type: "simple", words: [], redirects: [] }];
      if (this.cursor.next === "(") return this.#command(closing);
    }
  }

  #group(closing: ")" | "}", apart: boolean): Command {
    const body = this.list(closing);
    if (!this.cursor.takes(closing)) throw new Unreadable(`a ${closing} is missing`);
    return { type: "group", body, apart, redirects: this.#redirects() };
  }

  #redirects(): readonly Redirect[] {
    const redirects: Redirect[] = [];
    for (;;) {
      this.#blank(false);
      if (!this.#redirect(redirects)) return redirects;
    }
  }

  #simple(closing: Closing): Command {
    const words: Word[] = [];
    const redirects: Redirect[] = [];
    for (;;) {
      this.#blank(false);
      const { cursor } = this;
      if (cursor.isDone || cursor.next === "\n") break;
      if (cursor.sees("<(") || cursor.sees(">(")) {
        cursor.at += 2;
        words.push([readSpoken(cursor, readers)]);
      } else if (this.#redirect(redirects)) {
        continue;
      } else if (cursor.next === "(") {
        const name = words.length === 1 ? textOf(words[0] ?? []) : "";
        cursor.at += 1;
        this.#blank(false);
        if (name !== "" && cursor.takes(")")) return this.#function(name, closing);
        words.push(...this.#array(words.pop() ?? []));
      } else if (/[;&|)]/.test(cursor.next)) {
        break;
      } else {
        words.push(readWord(cursor, readers));
      }
    }
    return { type: "simple", words, redirects };
  }

  /** NAME=(a b c): its words may hold scripts, and its value is not followed. */
  #array(name: Word): readonly Word[] {
    if (!textOf(name).endsWith("=")) throw new Unreadable("there is a ( where none can be");
    const parts = [...name];
    for (;;) {
      this.#blank(true);
      if (this.cursor.takes(")")) return [[...parts, { type: "variable", name: "changed", quoted: true, inner: [] }]];
      if (this.cursor.isDone || /[;&|<>(]/.test(this.cursor.next)) throw new Unreadable("a ) is missing");
      parts.push(...readWord(this.cursor, readers));
    }
  }

  #function(name: string, closing: Closing): Command {
    this.#blank(true);
    return {
      type: "function",
      name,
      body: [{ commands: this.cursor.deeper(() => this.#command(closing)), background: false, after: ";" }],
    };
  }

  /** [[ … ]], in which signs compare and join. */
  #condition(): Command {
    const words: Word[] = [];
    while (!this.cursor.seesWord("]]")) {
      this.#blank(true);
      if (this.cursor.isDone) throw new Unreadable("a ]] is missing");
      const word = readWord(this.cursor, readers);
      if (word.length === 0 && !this.cursor.seesWord("]]")) this.cursor.at += 1;
      if (word.length > 0) words.push(word);
      this.#blank(true);
    }
    this.cursor.at += 2;
    return { type: "simple", words, redirects: [] };
  }

  #case(): Command {
    this.cursor.at += 4;
    this.#blank(true);
    const words = [readWord(this.cursor, readers)];
    this.#blank(true);
    if (!this.cursor.takes("in")) throw new Unreadable("a case has no in");
    const body: Pipeline[] = [];
    for (;;) {
      this.#blank(true);
      if (this.cursor.takes("esac")) break;
      if (this.cursor.isDone) throw new Unreadable("an esac is missing");
      this.cursor.takes("(");
      while (!this.cursor.takes(")")) {
        this.#blank(true);
        const word = readWord(this.cursor, readers);
        if (word.length === 0 && !this.cursor.takes("|") && this.cursor.next !== ")")
          throw new Unreadable("a ) is missing");
        words.push(word);
        this.#blank(true);
      }
      body.push(...this.list(";;"));
      for (const end of [";;&", ";;", ";&"]) if (this.cursor.takes(end)) break;
    }
    const asked: Command = { type: "simple", words: [condition, ...words], redirects: [] };
    body.unshift({ commands: [asked], background: false, after: ";" });
    return { type: "group", body, apart: false, redirects: this.#redirects() };
  }

  #loop(keyword: string): Command {
    this.cursor.at += keyword.length;
    this.#blank(false);
    if (this.cursor.sees("((")) {
      const steps = readNumber(this.cursor, readers);
      if (steps === null) throw new Unreadable("what a loop is to compute cannot be read");
      return { type: "simple", words: [condition, [steps]], redirects: [] };
    }
    const name = textOf(readWord(this.cursor, readers));
    this.#blank(true);
    if (!this.cursor.seesWord("in")) return { type: "loop", name, values: null };
    this.cursor.at += 2;
    const values: Word[] = [];
    for (;;) {
      this.#blank(false);
      if (this.cursor.isDone || /[;\n&|()<>]/.test(this.cursor.next)) return { type: "loop", name, values };
      values.push(readWord(this.cursor, readers));
    }
  }

  #redirect(redirects: Redirect[]): boolean {
    const { cursor } = this;
    const found = /^(?:\d+|\{\w+\})?(<<<|<<-|<<|<>|<&|>&|>>|>\||&>>|&>|<|>)(?!\()/.exec(
      cursor.text.slice(cursor.at, cursor.at + 64),
    );
    if (found === null) return false;
    const operator = found[1] ?? "";
    cursor.at += found[0].length;
    this.#blank(false);
    // `< <(…)`: the file is what a script says.
    const target = cursor.takes("<(") || cursor.takes(">(") ? [readSpoken(cursor, readers)] : readWord(cursor, readers);
    if (target.length === 0) throw new Unreadable(`nothing stands after ${operator}`);
    if (operator !== "<<" && operator !== "<<-") {
      redirects.push({ operator, target });
      return true;
    }
    this.#awaited.push({
      ending: textOf(target),
      tabs: operator === "<<-",
      isQuoted: target.some((part) => part.type === "text" && part.quoted),
      fill: (body) => redirects.push({ operator: "<<", target: body }),
    });
    return true;
  }

  /** Blanks, line breaks that are escaped, remarks; with `lines` also line breaks and the texts that begin after one. */
  #blank(lines: boolean): void {
    const { cursor } = this;
    for (;;) {
      if (cursor.next === " " || cursor.next === "\t" || cursor.next === "\r") cursor.at += 1;
      else if (cursor.sees("\\\n")) cursor.at += 2;
      else if (cursor.next === "#" && /^[\s;&|()]?$/.test(cursor.text[cursor.at - 1] ?? "")) {
        const end = cursor.text.indexOf("\n", cursor.at);
        cursor.at = end < 0 ? cursor.text.length : end;
      } else if (lines && cursor.takes("\n")) this.#bodies();
      else return;
    }
  }

  #bodies(): void {
    const awaited = this.#awaited;
    this.#awaited = [];
    for (const { ending, tabs, isQuoted, fill } of awaited) {
      const text = readLines(this.cursor, ending, tabs);
      const body = new Cursor(text, this.cursor.depth + 1);
      fill(isQuoted ? [{ type: "text", text, quoted: true }] : readQuoted(body, readers, ""));
    }
  }
}

/** Stands before the words of a condition, so that the first of them is not taken for a program. */
const condition: Word = [{ type: "text", text: "[[", quoted: false }];
