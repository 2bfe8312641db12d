// A person on IRC, written apart from the product's own client: connects, joins, says and remembers what was said.

import assert from "node:assert/strict";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { type Socket, connect } from "node:net";
import { connect as connectTls } from "node:tls";

export type Heard = { readonly from: string; readonly to: string; readonly text: string };

export type IrcUser = {
  readonly nick: string;
  readonly heard: readonly Heard[];
  /** What WHOIS told: the account of each nick. */
  readonly accounts: Map<string, string>;
  /** How often the server said that nobody of that name is there. */
  missed(): number;
  raw(line: string): void;
  say(target: string, text: string): void;
  /** Resolves when the server has come to everything that was sent before. */
  settled(): Promise<void>;
  /** Whether somebody of this nick is in a channel that we are in. */
  sees(nick: string, channel: string): boolean;
  close(): void;
};

/** `own`: a certificate of this person, shown over TLS; PEM files. */
export async function ircUser(
  port: number,
  nick: string,
  channels: readonly string[],
  own: { readonly certificate: string; readonly key: string } | null = null,
): Promise<IrcUser> {
  const heard: Heard[] = [];
  const accounts = new Map<string, string>();
  const present = new Map<string, Set<string>>();
  const pongs = new Map<string, () => void>();
  const welcome = Promise.withResolvers<void>();
  let count = 0;
  let missed = 0;
  const socket: Socket = own === null ? connect(port, "127.0.0.1") : secured(port, own);
  socket.setNoDelay(true);
  socket.on("error", welcome.reject);
  const raw = (line: string): void => void socket.write(`${line}\r\n`);
  const inChannel = (channel: string): Set<string> => {
    const found = present.get(channel) ?? new Set();
    present.set(channel, found);
    return found;
  };
  const take = (line: string): void => {
    const [, from = "", command = "", rest = ""] = /^(?:@\S+ )?(?::([^\s!]+)\S* )?(\S+) ?(.*)$/.exec(line) ?? [];
    const [middle = "", ...trailing] = rest.split(/(?:^| ):/);
    const words = middle.split(" ");
    const text = trailing.join(" :");
    if (command === "PING") raw(`PONG :${text || middle}`);
    if (command === "PONG") pongs.get(text || (words[1] ?? ""))?.();
    if (command === "401") missed++;
    if (command === "330") accounts.set(words[1] ?? "", words[2] ?? "");
    if (command === "NICK") for (const names of present.values()) if (names.delete(from)) names.add(text || middle);
    if (command === "001") welcome.resolve();
    if (command === "PRIVMSG" || command === "NOTICE") heard.push({ from, to: words[0] ?? "", text });
    if (command === "JOIN") inChannel(text || (words[0] ?? "")).add(from);
    if (command === "353")
      for (const name of text.split(" ")) inChannel(words[2] ?? "").add(name.replace(/^[@+%]/, ""));
    if (command === "PART" || command === "KICK")
      inChannel(words[0] ?? "").delete(command === "KICK" ? (words[1] ?? "") : from);
    if (command === "QUIT") for (const names of present.values()) names.delete(from);
  };
  let buffered = "";
  socket.setEncoding("utf8");
  socket.on("data", (chunk: string) => {
    const lines = (buffered + chunk).split("\n");
    buffered = lines.pop() ?? "";
    for (const line of lines) take(line.replace(/\r$/, ""));
  });
  await once(socket, "connect");
  raw(`NICK ${nick}`);
  raw(`USER ${nick} 0 * :${nick}`);
  await welcome.promise;
  const self: IrcUser = {
    nick,
    heard,
    accounts,
    missed: () => missed,
    raw,
    say(target, text) {
      assert.doesNotMatch(text, /[\r\n]/);
      raw(`PRIVMSG ${target} :${text}`);
    },
    settled: () =>
      new Promise((resolve) => {
        const token = `t${count++}`;
        pongs.set(token, resolve);
        raw(`PING :${token}`);
      }),
    sees: (name, channel) => inChannel(channel).has(name),
    close: () => void socket.destroy(),
  };
  for (const channel of channels) raw(`JOIN ${channel}`);
  await self.settled();
  return self;
}

function secured(port: number, { certificate, key }: { readonly certificate: string; readonly key: string }): Socket {
  const files = { cert: readFileSync(certificate), key: readFileSync(key) };
  return connectTls({ host: "127.0.0.1", port, ...files, rejectUnauthorized: false });
}
