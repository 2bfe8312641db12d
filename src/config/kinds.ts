// The kinds of values that settings are made of. Messages continue a sentence that begins with the key.

import * as v from "valibot";
import { Secret, looksSecret } from "./secret.ts";

export const group = <const E extends v.ObjectEntries>(entries: E) =>
  v.strictObject(entries, "must be a group of settings");
export const oneOf = <const T extends readonly string[]>(...names: T) =>
  v.picklist(names, `must be ${names.slice(0, -1).join(", ")} or ${names.at(-1)}`);
export const flag = v.boolean("must be true or false");
export const text = v.pipe(v.string("must be text"), v.trim(), v.nonEmpty("must not be empty"));
export const address = v.pipe(
  v.string("must be text"),
  v.regex(/^https?:\/\/[^\s/]+/i, "must be an address that begins with http:// or https://"),
);
const words = (what: string) => v.pipe(v.array(text, what), v.minLength(1, what));
export const command = words("must be a list with a program and its arguments");

const hostMessage = 'must be a host such as api.example.org, api.example.org:8443, "*.example.org" or "*"';

/** Where a program may connect to: names or addresses with an optional port; "*" is every public host. */
export const hosts = v.array(
  v.pipe(
    text,
    v.regex(
      /^(?:\*|(?:\*\.)?[a-z0-9](?:[a-z0-9._-]*[a-z0-9])?(?::\d{1,5})?|\[[0-9a-f:.]+\](?::\d{1,5})?)$/i,
      hostMessage,
    ),
  ),
  "must be a list of hosts",
);

/** Folders and files that a program sees: absolute or from `~/` on, and with `:rw` behind them where it may write. */
export const grantedPaths = v.array(
  v.pipe(
    text,
    v.regex(
      /^(?:[/~]|[a-z]:[/\\])/i,
      "must be an absolute path, or begin with ~/; with :rw behind it, it can be written",
    ),
  ),
  "must be a list of paths",
);

/** Compared by identity, so that a message never shows what stands there. */
export const secretText = v.pipe(
  v.string("must be text"),
  v.trim(),
  v.nonEmpty("must not be empty"),
  v.transform((value) => new Secret(value)),
);

const keysMessage = "must be a key, in quotes where it is a number, or a list of keys";

/** One secret or several; always a list afterwards. */
export const secrets = v.pipe(
  v.union([secretText, v.pipe(v.array(secretText, keysMessage), v.minLength(1, keysMessage))], keysMessage),
  v.transform((given) => (Array.isArray(given) ? given : [given])),
);

/** Names with values that may be secret, such as the environment of a program. None of them prints. */
export const secretNames = (what: string) =>
  v.pipe(
    v.record(text, secretText, what),
    v.transform((named) =>
      Object.fromEntries(
        Object.entries(named).map(([name, value]) => {
          const plain = value.reveal();
          return [name, new Secret(plain, !looksSecret(name, plain))];
        }),
      ),
    ),
  );

export function whole(min: number, max: number) {
  const message = `must be a whole number from ${min} to ${max}`;
  return v.pipe(v.number(message), v.integer(message), v.minValue(min, message), v.maxValue(max, message));
}

export function amount(min: number, max: number) {
  const message = `must be a number from ${min} to ${max}`;
  return v.pipe(v.number(message), v.minValue(min, message), v.maxValue(max, message));
}
