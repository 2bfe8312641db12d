// What a rule sees of the command it judges, and whom it may ask. Only types, and the few questions all rules have.

import { posix } from "node:path";
import { type CommandPlaces, type Judgement, dangerous, forbidden, plain, worst } from "./judgement.ts";
import type { Folder } from "./shell/folders.ts";
import { holdsSecrets, isInside, judgePath, ownPart, tidy } from "./paths.ts";
import { globFits, globPattern } from "./secrets.ts";
import { unknown } from "./shell/expand.ts";
import type { Script } from "./shell/script.ts";

/** Where a program's input comes from. */
export type Input =
  | { readonly type: "none" }
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "pipe"; readonly isDownload: boolean };

export type Call = {
  /** Without its folder. */
  readonly name: string;
  readonly args: readonly string[];
  readonly input: Input;
};

export type Look = {
  readonly places: CommandPlaces;
  /** Where the command runs if all went well, and where it may run besides; null for a folder that cannot be known. */
  readonly folders: readonly Folder[];
  readonly doubts: readonly Folder[];
  /** Judges a program with its words, started by the one that is judged. */
  readonly run: (words: readonly string[], input?: Input) => Judgement;
  /** Judges a script that would be run by another shell, or by this one. */
  readonly script: (text: string) => Judgement;
  readonly here: (text: string) => Judgement;
  /** Judges the body of a function where it is called. */
  readonly again: (body: Script) => Judgement;
};

/** Gives its own part of the judgement; what its words are as files that are read is looked at for all programs alike. */
export type Rule = (call: Call, look: Look) => Judgement;
export type Rules = Readonly<Record<string, Rule>>;

/** Everything a word may mean as a path; null where that cannot be known. */
export function pathsOf(text: string, look: Look): readonly string[] | null {
  if (text.includes(unknown)) return null;
  const paths = (text.startsWith("/") ? [tidy(text)] : joined(text, look.folders))?.map((path) =>
    real(path, look.places),
  );
  return paths?.flatMap(upwards).flatMap((path) => [path, ...meant(path, look.places)]) ?? null;
}

/** `.[.]/x` is `../x` to some shells. */
function upwards(path: string): readonly string[] {
  if (!path.includes("/.") || !/[*?[]/.test(path)) return [path];
  const parts = path.split("/");
  const isUp = (part: string, at: number) =>
    at < parts.length - 1 && part.startsWith(".") && /[*?[]/.test(part) && globPattern(part).test("..");
  return parts.some(isUp) ? [path, tidy(parts.map((part, at) => (isUp(part, at) ? ".." : part)).join("/"))] : [path];
}

/** The same look from another folder, as it was typed. */
export function within(text: string, look: Look): Look {
  return { ...look, folders: pathsOf(text, look) ?? [null], doubts: doubted(text, look) };
}

function doubted(text: string, look: Look): readonly Folder[] {
  return look.doubts.length === 0 ? [] : (pathsOf(text, { ...look, folders: look.doubts }) ?? [null]);
}

/** The longest link it begins with leads on. */
function real(path: string, { links = [] }: CommandPlaces): string {
  const [found] = links.filter(([typed]) => isInside(path, typed)).sort(([a], [b]) => b.length - a.length);
  return found === undefined ? path : tidy(found[1] + path.slice(tidy(found[0]).length));
}

/** Folders of ours that a pattern fits: ~/.ever* is the gateway's. */
function meant(path: string, places: CommandPlaces): readonly string[] {
  const { home, userHome, links = [] } = places;
  if (!/[*?[]/.test(path)) return [];
  const parts = path.split("/");
  return [home, userHome ?? home, ...links.map(([typed]) => typed)].flatMap((folder) => {
    const known = tidy(folder).split("/");
    const upTo = known.map((_, at) => at).filter((at) => at > 0 && at < parts.length);
    return upTo.flatMap((at) => {
      const fits = known.slice(0, at + 1).every((name, i) => globFits(parts[i] ?? "", name));
      const path = [...known.slice(0, at + 1), ...parts.slice(at + 1)].join("/");
      return fits ? [real(path, places)] : [];
    });
  });
}

function joined(text: string, folders: readonly Folder[]): readonly string[] | null {
  const known = folders.filter((folder) => folder !== null);
  return known.length < folders.length ? null : known.map((folder) => tidy(posix.join(folder, text)));
}

function readsThere(text: string, look: Look): Judgement {
  const paths = pathsOf(text, look);
  if (paths !== null) return worst(paths.map((path) => judgePath(path, "read", look.places)));
  // Enough may be known to see that it is ours or a secret: ~/.ssh/$name.
  const start = text.slice(0, text.indexOf(unknown));
  const guesses = text.includes(unknown)
    ? [text.replaceAll(unknown, "x"), ...(start.length > 1 ? [`${start}x`] : [])]
    : [];
  const seen = guesses.flatMap((one) => pathsOf(one, look) ?? []).map((path) => judgePath(path, "read", look.places));
  return worst([...seen, notWrittenOut(look)]);
}

/** It may be a file of the gateway. Where those cannot be reached it does not matter. */
export function notWrittenOut({ places }: Look): Judgement {
  return places.isSandboxed === true ? plain : dangerous("it reads a file whose name is not written out");
}

/** All that is in it, too. */
function readsWholeThere(text: string, look: Look): Judgement {
  const whole = (pathsOf(text, look) ?? []).filter((path) => holdsSecrets(path, look.places));
  return worst([
    readsThere(text, look),
    ...whole.map((path) => dangerous(`it reads all of ${path}, secrets included`)),
  ]);
}

function writesThere(text: string, look: Look): Judgement {
  const paths = pathsOf(text, look);
  if (paths !== null) return worst(paths.map((path) => judgePath(path, "write", look.places)));
  const start = text.slice(0, text.indexOf(unknown));
  const isSeen = start.startsWith("/") && judgePath(`${start}x`, "write", look.places).level === "forbidden";
  if (isSeen) return judgePath(`${start}x`, "write", look.places);
  return dangerous("it writes to a place that is not written out");
}

const kept =
  /^\/(?:bin|boot|dev|etc|home|lib|lib32|lib64|opt|proc|root|sbin|srv|sys|usr|var|usr\/(?:bin|lib|local|sbin|share)|var\/lib|Users|System|Library|Applications|Volumes|private)$/;

/** To remove or change everything below that place would be the end of the machine, of the user's files or of the gateway. */
function wholesaleThere(text: string, look: Look): Judgement {
  // The folder and everything in it are the same: / and /*, ~ and ~/.
  const shown = text.replace(/(?:\/(?:\.?\*+|\.))+\/?$/, "/").replace(/\/{1,}$/, "/");
  const paths = pathsOf(/^\.?\*+$/.test(shown) ? "." : shown, look) ?? [];
  return worst(
    paths.map((path) => {
      if (path === "/" || kept.test(path)) return forbidden(`it would take all of ${path}`);
      if (ownPart(path, look.places) !== null || isInside(look.places.home, path))
        return forbidden(`it would take the gateway's own folder with ${path}`);
      const { userHome } = look.places;
      return userHome !== null && isInside(userHome, path) ? forbidden(`it would take all of ${path}`) : plain;
    }),
  );
}

type There = (text: string, look: Look) => Judgement;

/** Where it may be only because something failed, it is asked for, and no more. */
function alsoInDoubt(judge: There): There {
  return (text, look) => {
    const found = judge(text, look);
    if (look.doubts.length === 0 || found.level === "forbidden") return found;
    const doubted = judge(text, { ...look, folders: look.doubts });
    return worst([
      found,
      doubted.level === "forbidden" ? dangerous(`${doubted.why}, if a folder is missing`) : doubted,
    ]);
  };
}

export const reads = alsoInDoubt(readsThere);
/** All that is in it, too. */
export const readsWhole = alsoInDoubt(readsWholeThere);
export const writes = alsoInDoubt(writesThere);
/** To take everything below that place would be the end of the machine, of the user's files or of the gateway. */
export const wholesale = alsoInDoubt(wholesaleThere);
