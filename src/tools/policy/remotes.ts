// From what `git remote -v` prints to what git needs. It is printed inside the sandbox from files of the workspace, so it
// may say anything: it only decides what the user is asked for. Pure.

import type { CredentialGrant, PathGrant } from "../../core/grant.ts";
import { destinationOf } from "./destinations.ts";
import type { GitNeed } from "./needs.ts";

export type RemoteNeeds = {
  readonly hosts: readonly string[];
  readonly credentials: readonly CredentialGrant[];
  readonly paths: readonly PathGrant[];
};

const none: RemoteNeeds = { hosts: [], credentials: [], paths: [] };

export function remoteNeeds({ verb, remote }: GitNeed, printed: string): RemoteNeeds {
  const all = printed.split("\n").flatMap((line) => {
    const [, name = "", address = "", use = ""] = /^(\S+)\t(.+) \((fetch|push)\)/.exec(line) ?? [];
    return use === verb ? [{ name, address }] : [];
  });
  const named = all.filter(({ name }) => name === (remote ?? "origin"));
  const chosen = remote === null && named.length === 0 ? all : named;
  return chosen.map(({ address }) => needsOfAddress(address, verb)).reduce(joined, none);
}

function needsOfAddress(address: string, verb: GitNeed["verb"]): RemoteNeeds {
  const found = destinationOf(address);
  const access = verb === "push" ? "write" : "read";
  if (found === null) return address.startsWith("/") ? { ...none, paths: [{ path: address, access }] } : none;
  const host = found.host.replace(/:\d+$/, "");
  // What is public is read without a password; where it is not, the model can ask for one.
  const kind = found.isSsh ? "ssh-agent" : verb === "push" ? "git-credential" : null;
  return { hosts: [found.host], credentials: kind === null ? [] : [{ kind, host }], paths: [] };
}

function joined(a: RemoteNeeds, b: RemoteNeeds): RemoteNeeds {
  return {
    hosts: [...a.hosts, ...b.hosts],
    credentials: [...a.credentials, ...b.credentials],
    paths: [...a.paths, ...b.paths],
  };
}
