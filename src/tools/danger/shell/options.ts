// Takes the words after a program's name apart: options, their values, and what it works on. Pure.

export type Options = {
  /** One of these was given, short or long, without its dashes. */
  readonly has: (...names: readonly string[]) => boolean;
  /** What was given with one of these, every time. */
  readonly values: (...names: readonly string[]) => readonly string[];
  readonly operands: readonly string[];
};

/** `valued` are the options that take the next word, short or long, separated by blanks. */
export function readOptions(args: readonly string[], valued = ""): Options {
  const takesNext = new Set(valued.split(" "));
  const given: { readonly name: string; readonly value: string | null }[] = [];
  const operands: string[] = [];
  const queue = [...args];
  for (let arg = queue.shift(); arg !== undefined; arg = queue.shift()) {
    if (arg === "--") {
      operands.push(...queue);
      break;
    }
    if (arg.startsWith("--") || (arg.startsWith("-") && takesNext.has(arg.slice(1)) && arg.length > 2)) {
      const [name = "", ...rest] = arg.replace(/^--?/, "").split("=");
      const value = rest.length > 0 ? rest.join("=") : takesNext.has(name) ? (queue.shift() ?? null) : null;
      given.push({ name, value });
    } else if (arg.startsWith("-") && arg.length > 1) {
      for (let at = 1; at < arg.length; at++) {
        const name = arg[at] ?? "";
        const isLast = at === arg.length - 1;
        if (takesNext.has(name)) {
          given.push({ name, value: isLast ? (queue.shift() ?? null) : arg.slice(at + 1) });
          break;
        }
        given.push({ name, value: null });
      }
    } else {
      operands.push(arg);
    }
  }
  return {
    has: (...names) => given.some((one) => names.some((name) => isMeant(one.name, name))),
    values: (...names) => given.flatMap((one) => (one.value !== null && names.includes(one.name) ? [one.value] : [])),
    operands,
  };
}

/** Long options may be cut short: --recurs is --recursive. */
function isMeant(given: string, name: string): boolean {
  return given === name || (given.length > 2 && name.length > 2 && name.startsWith(given));
}
