// The judgement of one path that is to be read or written. Pure: whoever asks has resolved it, links included.

import { posix } from "node:path";
import { type Judgment, dangerous, forbidden, plain, wider } from "../policy/index.ts";
import { runsLater } from "./later.ts";
import { globsSecret, isSecret } from "./secrets.ts";

/** Where things are. All paths are absolute, with links resolved by the caller. */
export type Places = {
  /** What the agent may change as it likes. */
  readonly workspace: string;
  /** The gateway's own folder. The workspace may be inside of it. */
  readonly home: string;
  /** The user's own folder, or null where the system knows none. */
  readonly userHome: string | null;
  /** Further folders that may be written as the workspace may, such as one for temporary files. */
  readonly writable?: readonly string[];
};

export type PathUse = "read" | "write";

/** Parts of the gateway's folder that may be read: what users sent, and what commands said. */
const openParts = new Set(["files", "jobs"]);
/** Written here, a file does not stay: these are ways to speak, not places. */
const streams = /^\/dev\/(?:null|zero|full|tty|stdin|stdout|stderr|random|urandom|fd\/\d+)$/;
const system =
  /^\/(?:private\/)?etc\/(?:passwd|shadow|gshadow|group|sudoers|sudoers\.d|pam\.d|fstab|ld\.so\.preload|crypttab)-?(?:\/|$)/i;
const machine = /^\/(?:boot|proc|sys|efi)(?:\/|$)|^\/(?:bin|sbin|lib|lib64|usr|etc|var|dev|System|Library)?\/?$/;

/** `path` is absolute and resolved. */
export function judgePath(path: string, use: PathUse, places: Places): Judgment {
  const clean = tidy(path);
  // Shells open a connection for these names.
  if (/^\/dev\/(?:tcp|udp)\//.test(clean)) return dangerous(`it connects to ${clean.slice(9)}`);
  const own = ownPart(clean, places);
  if (own !== null) return judgeOwn(own, use);
  if (use === "read") {
    return isSecret(clean) || globsSecret(clean) ? dangerous(`it reads ${clean}, which may hold secrets`) : plain;
  }
  if (streams.test(clean)) return plain;
  if (isInside(clean, places.workspace)) return judgeFreeWrite(clean, places);
  if (system.test(clean)) return forbidden(`it would change ${clean}, which decides who may use this machine`);
  if (clean.startsWith("/dev/")) return forbidden(`it would write to the device ${clean}`);
  if (machine.test(clean)) return forbidden(`it would change ${clean}, which the machine itself needs`);
  if (places.writable?.some((folder) => isInside(clean, folder)) === true) return judgeFreeWrite(clean, places);
  return wider(`it writes to ${clean}, which is outside of the workspace`);
}

/** Where everything may be written, except for what runs later, when nobody is asked. */
function judgeFreeWrite(path: string, { userHome }: Places): Judgment {
  const why = runsLater(path, userHome === null ? null : tidy(userHome));
  return why === null ? plain : dangerous(`it changes ${path}, ${why}`);
}

function judgeOwn(part: string, use: PathUse): Judgment {
  const first = part.split("/", 1)[0] ?? "";
  if (use === "read" && openParts.has(first)) return plain;
  if (use === "read" && first === "logs") return dangerous("it reads the logs of the gateway");
  const shown = part === "" ? "the gateway's own folder" : `${part} of the gateway's own folder`;
  return forbidden(`it would ${use === "read" ? "read" : "change"} ${shown}`);
}

/** The path below the gateway's folder when it is the gateway's own; null for the workspace and everything else. */
export function ownPart(path: string, places: Places): string | null {
  // A workspace around the gateway's folder does not open it.
  if (isInside(path, places.workspace) && !isInside(places.home, places.workspace)) return null;
  const home = tidy(places.home);
  // Some disks do not tell capitals apart, so neither does this.
  if (!isInside(path.toLowerCase(), home.toLowerCase())) return null;
  return path.slice(home.length).replace(/^\/+/, "");
}

/** Reading all of it would read secrets or the gateway's own files: it is the folder they are in. */
export function holdsSecrets(path: string, places: Places): boolean {
  const held = [places.home, ...(places.userHome === null ? [] : [places.userHome]), "/etc"];
  return held.some((one) => isInside(one, path));
}

export function isInside(path: string, folder: string): boolean {
  const outer = tidy(folder);
  const inner = tidy(path);
  return inner === outer || inner.startsWith(outer === "/" ? "/" : `${outer}/`);
}

/** With slashes, without dots and a slash at its end. */
export function tidy(path: string): string {
  // Most are as they should be, and this is asked often.
  if (path.startsWith("/") && path.length > 1 && !/\\|\/[./]|\/$/.test(path)) return path;
  const clean = posix.normalize(path.replaceAll("\\", "/").replace(/^\/+/, "/"));
  return clean.length > 1 ? clean.replace(/\/+$/, "") : clean;
}
