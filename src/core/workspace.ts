// How the folders of a person are named: readable for people, and never the same for two persons. Pure.

import { createHash } from "node:crypto";
import { type Requester, ownerPerson } from "./requester.ts";

const slugMax = 40;

/** The name of the folders of a person, such as `telegram-bot-12345-1f0c2a9be4d7`. */
export function workspaceName(person: string): string {
  if (person === ownerPerson) return ownerPerson;
  const slug = person
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .slice(0, slugMax)
    .replace(/^-+|-+$/g, "");
  const digest = createHash("sha256").update(person).digest("hex").slice(0, 12);
  return slug === "" ? digest : `${slug}-${digest}`;
}

export type Sharing = {
  /** `shared`: everybody uses the workspace of the owner. */
  readonly workspaces: "separate" | "shared";
  /** Those who use it too: a platform, an account or a chat, as `telegram` or `telegram/bot/12345`. */
  readonly shareWith: readonly string[];
};

/** Whose workspace, jobs and files the tools of a requester use. */
export function personOf({ person }: Requester, { workspaces, shareWith }: Sharing): string {
  const isShared = shareWith.some((one) => person === one || person.startsWith(`${one}/`));
  return workspaces === "shared" || isShared ? ownerPerson : person;
}
