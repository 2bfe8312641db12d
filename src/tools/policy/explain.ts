// What an approval would give, in sentences for the person who is asked, the worst effect first. A sentence may say more
// than what happens, never less. Pure.

import type { Grant, PathGrant } from "../../core/grant.ts";

export type Explained = {
  readonly grant: Grant;
  /** `off`: there is none on this machine. */
  readonly sandbox: "on" | "off";
  readonly deletes: readonly string[];
  readonly publishes: boolean;
  readonly background: boolean;
  /** Text from outside may have led to this. */
  readonly marked: boolean;
};

export function explain({ grant, sandbox, deletes, publishes, background, marked }: Explained): readonly string[] {
  const { hosts, paths, credentials, outside } = grant;
  const written = paths.filter(({ access }) => access === "write");
  const read = paths.filter(({ access }) => access === "read");
  const isFree = outside || sandbox === "off";
  const removed = isFree ? deletes : deletes.filter((one) => /(?:^| )[/~$.]/.test(one) && written.length > 0);
  const isWider = isFree || hosts.length + paths.length + credentials.length > 0;
  return [
    ...(removed.length === 0 ? [] : [`Deletes ${listed(removed.map(shorter))}.`]),
    ...(sandbox === "off" ? [unprotected] : outside ? ["Runs outside the sandbox with all your rights."] : []),
    ...written.map(({ path }) => `Can change or delete anything in ${path}.`),
    ...credentials.map(
      ({ kind, host }) =>
        `${publishes ? `Publishes to ${host} with` : `Signs in at ${host} with`} your ${credentialWords[kind]}`,
    ),
    ...(publishes && credentials.length === 0 && hosts.length > 0 ? [`Publishes to ${allOf(hosts)}.`] : []),
    ...read.map(readLine),
    ...(hosts.length === 0
      ? []
      : [`Connects to ${allOf(hosts.map(hostName))}; anything it can read can be sent there.`]),
    ...(background && isWider ? ["Keeps all of this while it runs in the background."] : []),
    ...(marked ? ["This conversation holds text from outside, which may have led to this."] : []),
  ];
}

const unprotected =
  "Runs without a sandbox, with all your rights. It can also reach this gateway's own token and port, and so its controls.";

/** A key stays with its broker outside; a password is handed to git inside, where other programs can read it. */
const credentialWords = {
  "ssh-agent": "SSH key; anything in the workspace can use it during the call.",
  "git-credential": "git password; anything in the workspace can read it during the call, and keep it.",
} as const;

/** Where people and programs keep keys and passwords. */
const secret =
  /(?:^|\/)(?:\.ssh|\.gnupg|\.aws|\.kube|\.docker|\.netrc|\.npmrc|\.pypirc|\.git-credentials|\.env[\w.]*|\.password-store|id_[a-z0-9]+|shadow)(?:\/|$)|\.(?:pem|key|p12|pfx|kdbx)$/;

/** Folders that hold such places. */
const holder = /^\/(?:etc|home|root|Users|(?:home|Users)\/[^/]+)?$/;

export function mayHoldSecrets(path: string): boolean {
  return secret.test(path) || holder.test(path);
}

function readLine({ path }: PathGrant): string {
  return `Can read ${path} and anything in it${mayHoldSecrets(path) ? ", which may hold passwords or keys" : ""}.`;
}

function hostName(host: string): string {
  if (host === "*") return "any public host";
  return host.startsWith("*.") ? `any host below ${host.slice(2)}` : host;
}

const shownMax = 10;
const wordMax = 200;

function shorter(word: string): string {
  return word.length > wordMax ? `${word.slice(0, wordMax).toWellFormed()}…` : word;
}

export function listed(all: readonly string[]): string {
  return allOf(all.length > shownMax ? [...all.slice(0, shownMax), `${all.length - shownMax} more`] : all);
}

function allOf(shown: readonly string[]): string {
  return shown.length < 2 ? (shown[0] ?? "") : `${shown.slice(0, -1).join(", ")} and ${shown.at(-1)}`;
}
