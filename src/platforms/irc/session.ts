// What is said to a server from the first line to the last channel, and what its lines mean to us afterwards. Pure: a line
// comes in, lines go out, and sometimes there is news.

import { Fault } from "../../core/fault.ts";
import type { IrcSettings } from "./index.ts";
import { type Line, fold } from "./lines.ts";
import { type Heard, type People, answered, heard, nobody, observe, passed } from "./people.ts";

export type State = {
  readonly isReady: boolean;
  /** Our name at present; the wished one may be taken. */
  readonly nick: string;
  readonly offered: readonly string[];
  readonly caps: readonly string[];
  readonly people: People;
};

export type News =
  | { readonly type: "ready" }
  | { readonly type: "said"; readonly lines: readonly Line[] }
  | { readonly type: "pong"; readonly token: string }
  /** A line of ours, as the server passed it on. */
  | { readonly type: "echoed"; readonly target: string; readonly text: string }
  | { readonly type: "refused"; readonly target: string; readonly code: string; readonly why: string }
  | { readonly type: "not-joined"; readonly channel: string; readonly why: string };

export type Next = { readonly state: State; readonly out: readonly string[]; readonly news?: News };

const wishes = [
  "server-time",
  "message-tags",
  "account-tag",
  "account-notify",
  "extended-join",
  "echo-message",
  "batch",
  "draft/chathistory",
];
/** After the channels are joined, the server answers this in its turn. */
const joined = "joined";
const nickTries = 4;

export function begin(settings: IrcSettings): Next {
  const { nick, password } = settings;
  const out = ["CAP LS 302", ...(password === null ? [] : [`PASS ${password}`]), `NICK ${nick}`];
  const state = { isReady: false, nick, offered: [], caps: [], people: nobody };
  return { state, out: [...out, `USER ${userOf(nick)} 0 * :${settings.realName}`] };
}

function userOf(nick: string): string {
  return nick.replace(/[^a-z0-9]/gi, "").slice(0, 10) || "bot";
}

export function advance(settings: IrcSettings, before: State, line: Line): Next {
  const { command, params } = line;
  const state = { ...before, people: observe(before.people, line, before.nick) };
  switch (command) {
    case "PING":
      return { state, out: [`PONG :${params[0] ?? ""}`] };
    case "PRIVMSG":
      if (isUs(state, line) && !("batch" in line.tags))
        return { state, out: [], news: { type: "echoed", target: params[0] ?? "", text: params[1] ?? "" } };
      if (!asks(settings, state)) return { state, out: [], news: { type: "said", lines: [line] } };
      return said(state, heard(state.people, line));
    case "318":
      return said(state, answered(state.people, params[1] ?? ""));
    case "PONG":
      return pong(state, params.at(-1) ?? "");
    case "CAP":
      return capability(settings, state, params);
    case "AUTHENTICATE":
      return { state, out: credentials(settings) };
    case "903":
      return { state, out: ["CAP END"] };
    case "001":
      return welcome(settings, { ...state, nick: params[0] ?? state.nick });
    case "433":
    case "436":
    case "437":
      return nickTaken(settings, state);
    case "NICK":
      if (!isUs(state, line)) return { state, out: regain(settings, state, line.nick) };
      return { state: { ...state, nick: params[0] ?? state.nick }, out: [] };
    case "QUIT":
      return { state, out: regain(settings, state, line.nick) };
    case "KICK":
      return {
        state,
        out: isSame(state, params[1] ?? "", state.nick) ? [`JOIN ${channelWithKey(settings, state, params[0])}`] : [],
      };
    case "ERROR":
      throw new Error(`The server ended the connection: ${params[0] ?? "it did not say why"}`);
    default:
      return refusal(settings, state, line);
  }
}

/** Whether people are asked for, because lines do not say who they are. */
function asks({ askAccounts }: IrcSettings, { caps }: State): boolean {
  return askAccounts && !caps.includes("account-tag");
}

/** Then a nick alone says nothing about anybody. */
export function knowsAccounts({ askAccounts }: IrcSettings, { caps }: State): boolean {
  return askAccounts || caps.includes("account-tag");
}

function isUs(state: State, line: Line): boolean {
  return isSame(state, line.nick, state.nick);
}

/** Whether two names are one to the server. */
export function isSame({ people: { mapping } }: Pick<State, "people">, a: string, b: string): boolean {
  return fold(a, mapping) === fold(b, mapping);
}

/** The name that we wished for is asked for again when whoever had it leaves it; `who` is not given where nobody was seen. */
export function regain(settings: IrcSettings, state: State, who = settings.nick): readonly string[] {
  const isWanted = (name: string) => isSame(state, name, settings.nick);
  return state.isReady && !isWanted(state.nick) && isWanted(who) ? [`NICK ${settings.nick}`] : [];
}

function said(state: State, { people, out, lines }: Heard): Next {
  return { state: { ...state, people }, out, ...(lines.length === 0 ? {} : { news: { type: "said", lines } }) };
}

function pong(state: State, token: string): Next {
  const told = passed(state.people, token);
  if (told !== null) return said(state, told);
  if (token !== joined || state.isReady) return { state, out: [], news: { type: "pong", token } };
  return { state: { ...state, isReady: true }, out: [], news: { type: "ready" } };
}

function capability(settings: IrcSettings, state: State, params: readonly string[]): Next {
  const [, verb = "", ...rest] = params;
  const names = (rest.at(-1) ?? "").split(" ").filter((name) => name !== "");
  if (verb === "LS") {
    const offered = [...state.offered, ...names.map((name) => name.split("=", 1)[0] ?? name)];
    if (rest[0] === "*") return { state: { ...state, offered }, out: [] };
    return ask(settings, { ...state, offered });
  }
  if (verb === "ACK") {
    const next = { ...state, caps: [...state.caps, ...names] };
    return { state: next, out: [next.caps.includes("sasl") ? `AUTHENTICATE ${mechanismOf(settings)}` : "CAP END"] };
  }
  return { state, out: verb === "NAK" ? ["CAP END"] : [] };
}

function ask(settings: IrcSettings, state: State): Next {
  const { offered } = state;
  if (settings.sasl !== null && !offered.includes("sasl")) {
    // A server whose services are away for a while offers none either, so this is tried again.
    throw new Error(
      `${settings.host} does not offer SASL, with which ${settings.sasl.account === null ? "the certificate" : `the account ${settings.sasl.account}`} was to log in. Remove platforms.irc.sasl, or connect with TLS if it is offered only there.`,
    );
  }
  const wanted = [...wishes, ...(settings.sasl === null ? [] : ["sasl"])].filter((name) => offered.includes(name));
  return { state, out: [wanted.length === 0 ? "CAP END" : `CAP REQ :${wanted.join(" ")}`] };
}

function mechanismOf({ sasl }: IrcSettings): "PLAIN" | "EXTERNAL" {
  return sasl !== null && "certificate" in sasl ? "EXTERNAL" : "PLAIN";
}

/** In pieces of 400 letters; a last piece of exactly that is followed by an empty one. */
function credentials({ sasl }: IrcSettings): readonly string[] {
  if (sasl === null) return ["AUTHENTICATE *"];
  const { account } = sasl;
  // With a certificate only the name is said, where there is one; an empty answer is a plus sign.
  const words = "certificate" in sasl ? (account ?? "") : `${account}\0${account}\0${sasl.password}`;
  const text = Buffer.from(words).toString("base64");
  const pieces = text.match(/.{1,400}/g) ?? [];
  return [...pieces, ...(text.length % 400 === 0 ? ["+"] : [])].map((piece) => `AUTHENTICATE ${piece}`);
}

function welcome(settings: IrcSettings, state: State): Next {
  return { state, out: [...settings.channels.map((channel) => `JOIN ${channel}`), `PING :${joined}`] };
}

function nickTaken(settings: IrcSettings, state: State): Next {
  if (state.isReady) return { state, out: [] };
  const nick = `${state.nick}_`;
  if (nick.length > settings.nick.length + nickTries) {
    throw new Error(`The nick ${settings.nick} and ${nickTries} like it are taken at ${settings.host}.`);
  }
  return { state: { ...state, nick }, out: [`NICK ${nick}`] };
}

function channelWithKey({ channels }: IrcSettings, state: State, name = ""): string {
  return channels.find((channel) => isSame(state, channel.split(" ", 1)[0] ?? "", name)) ?? name;
}

/** What only other settings can change. */
const denials: Readonly<Record<string, string>> = {
  "432": "does not take this nick. Choose another in platforms.irc.nick.",
  "464": "does not take the password. Check platforms.irc.password.",
  "465": "has banned us.",
  "902": "does not let this account log in. Check platforms.irc.sasl.",
  "904": "does not take the account with its password or certificate. Check platforms.irc.sasl.",
  "905": "does not take the account with its password or certificate. Check platforms.irc.sasl.",
  "908": "does not take this kind of SASL login. Change or remove platforms.irc.sasl.",
};
const joinFailures = new Set(["403", "405", "471", "473", "474", "475", "476", "477", "489"]);
const sendFailures = new Set(["401", "402", "403", "404", "407", "408", "411", "412", "415", "477", "531", "716"]);

function refusal(settings: IrcSettings, state: State, { command, params }: Line): Next {
  const denial = denials[command];
  const why = params.at(-1) ?? "";
  if (denial !== undefined && !state.isReady) throw new Fault("denied", `${settings.host} ${denial} It said: ${why}`);
  const target = params[1] ?? "";
  if (!state.isReady && joinFailures.has(command)) {
    return { state, out: [], news: { type: "not-joined", channel: target, why } };
  }
  if (state.isReady && sendFailures.has(command)) {
    return { state, out: [], news: { type: "refused", target, code: command, why } };
  }
  return { state, out: [] };
}
