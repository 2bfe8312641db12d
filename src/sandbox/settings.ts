// The files of /etc that a sandbox has instead of the machine's own. Pure.

import { insideId } from "./bubblewrap.ts";

/** Who commits in git, where no repository says so. */
export type GitIdentity = { readonly name: string; readonly email: string };

export const agentIdentity: GitIdentity = { name: "Agent", email: "agent@localhost" };

export const settingsFiles: Readonly<Record<string, string>> = {
  passwd: `root:x:0:0:root:/root:/bin/sh\nagent:x:${insideId}:${insideId}:agent:/home/sandbox:/bin/sh\nnobody:x:65534:65534:nobody:/:/bin/false\n`,
  group: `root:x:0:\nagent:x:${insideId}:\nnogroup:x:65534:\n`,
  hosts: "127.0.0.1 localhost sandbox\n::1 localhost\n",
  "nsswitch.conf": "passwd: files\ngroup: files\nshadow: files\nhosts: files dns\nservices: files\nprotocols: files\n",
};

/** Files of the workspace may belong to somebody else; inside of the sandbox that is no danger. */
export function gitConfig({ name, email }: GitIdentity): string {
  return `[user]\n\tname = ${quoted(name)}\n\temail = ${quoted(email)}\n[safe]\n\tdirectory = *\n`;
}

function quoted(text: string): string {
  const plain = [...text].filter((letter) => letter >= " ").join("");
  return `"${plain.replace(/["\\]/g, "\\$&")}"`;
}
