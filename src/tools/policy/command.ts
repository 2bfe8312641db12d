// What becomes of a command: it runs in its sandbox, it is asked for with exactly the grant that it would get, or it is
// refused. One table over the sandbox, the settings and who asked. Pure.

import type { Verdict } from "../../core/approval.ts";
import { type Grant, isEmptyGrant } from "../../core/grant.ts";
import type { Party } from "../../core/requester.ts";
import { terminalRules } from "../../core/terminal-rules.ts";
import type { SandboxState } from "../../ports/sandbox.ts";
import { digest } from "../digest.ts";
import { explain, listed } from "./explain.ts";
import { isReadOnly } from "./read-only.ts";
import type { Policy } from "./verdict.ts";

/** Settings of the terminal that decide what is asked. */
export type CommandSettings = {
  readonly approvals: Policy;
  /** Hosts that every command may reach. */
  readonly hosts: readonly string[];
  /** All public hosts, except in a conversation that holds text from outside. */
  readonly network: boolean;
  /** Calls may be approved that run outside of the sandbox. */
  readonly outside: boolean;
  /** Without a sandbox, tools may run as root. */
  readonly allowRoot: boolean;
};

export type CommandRequest = {
  readonly command: string;
  /** As it is shown. */
  readonly cwd: string;
  readonly background: boolean;
  /** Whether the command begins in the workspace itself. */
  readonly isAtHome: boolean;
  /** What it wants beyond the settings; `outside` where it cannot work in the sandbox. */
  readonly wanted: Grant;
  /** Why it cannot work in the sandbox: the programs, or that the model said so. */
  readonly outsideWhy: string | null;
  readonly deletes: readonly string[];
  readonly publishes: boolean;
  /** Digests of the scripts that it runs, for calls without a wall around them. */
  readonly scripts: readonly (readonly [name: string, digest: string])[];
  readonly party: Party;
  /** The conversation holds text from outside. */
  readonly marked: boolean;
};

export type CommandHost = {
  readonly sandbox: SandboxState;
  readonly isRoot: boolean;
  readonly isWindows: boolean;
};

export function judgeCommand(request: CommandRequest, settings: CommandSettings, host: CommandHost): Verdict {
  const { sandbox } = host;
  if (sandbox.type === "missing") return refuse(sandbox.why);
  return sandbox.type === "off" ? judgeOpen(request, settings, host) : judgeInside(request, settings);
}

function judgeInside(request: CommandRequest, settings: CommandSettings): Verdict {
  const { wanted, outsideWhy, command, party, marked } = request;
  if (wanted.outside) {
    if (!settings.outside)
      return refuse(
        `Not run: ${outsideWhy}. Tell the user to type this in a terminal of their own:\n${command}\n(agent.tools.terminal.outside: true would let an admin approve such commands.)`,
      );
    if (party === "person")
      return refuse(`Not run: ${outsideWhy}, and only the owner and admins can have commands run outside of it.`);
    return ask(request, { ...wanted, hosts: [], paths: [], credentials: [] }, "on", null);
  }
  const given = settings.network && !marked ? ["*"] : settings.hosts;
  const more = wanted.hosts.filter((one) => !given.some((host) => covers(host, one)));
  const grant: Grant = { ...wanted, hosts: [...given, ...more] };
  if (isEmptyGrant({ ...wanted, hosts: more })) {
    if (settings.approvals !== "always") return { type: "run", grant };
    return ask(request, grant, "on", subjectOfCommand(request));
  }
  return ask(request, grant, "on", subjectOf({ ...grant, hosts: more }));
}

/** Where there is no sandbox. */
function judgeOpen(request: CommandRequest, settings: CommandSettings, { isRoot, isWindows }: CommandHost): Verdict {
  const { party, command, background, isAtHome } = request;
  if (party === "person")
    return refuse(
      "Not run: there is no sandbox on this machine, so only the owner and admins can run commands. An admin can install one (docs/security.md).",
    );
  if (isRoot && !settings.allowRoot)
    return refuse(
      "Not run: the gateway runs as root without a sandbox. Install bubblewrap, run the gateway as another user, or set agent.tools.allowRoot: true.",
    );
  const grant: Grant = { hosts: [], paths: [], credentials: [], outside: true };
  const isPlain = !isWindows && !background && isAtHome && isReadOnly(command);
  if (isPlain && settings.approvals !== "always") return { type: "run", grant };
  return ask(request, grant, "off", null);
}

function ask(request: CommandRequest, grant: Grant, sandbox: "on" | "off", subject: string | null): Verdict {
  const { command, cwd, background, scripts, deletes, publishes, marked } = request;
  const effects = explain({ grant, sandbox, deletes, publishes, background, marked });
  const where = [`in ${cwd}`, ...(background ? ["in the background"] : [])].join(", ");
  const bound = grant.outside ? scripts : [];
  const seen =
    bound.length === 0
      ? ""
      : `\nscripts as they are now: ${bound.map(([name, hash]) => `${name}@${hash.slice(0, 12)}`).join(" ")}`;
  return {
    type: "approve",
    why: "every call is asked for",
    effects: effects.length === 0 ? ["Runs in the sandbox, with nothing beyond it."] : effects,
    what: `${command}\n(${where})${seen}`,
    grant,
    bound: digest([command, cwd, background, grant, sandbox, bound]),
    subject,
  };
}

const refuse = (why: string): Verdict => ({ type: "refuse", why });

/** Whether leave for one host is leave for the other. */
export function covers(given: string, wanted: string): boolean {
  if (given === "*" || given === wanted) return true;
  const [name = "", port] = given.split(":");
  const [other = "", otherPort] = wanted.split(":");
  if (port !== undefined && port !== otherPort) return false;
  // A host without a port is for the web.
  if (port === undefined && otherPort !== undefined && otherPort !== "443" && otherPort !== "80") return false;
  return name === other || (name.startsWith("*.") && other.endsWith(name.slice(1)));
}

/** A rule must be short enough to be read in a list. */
const subjectMax = 500;

/** What "always" would allow; null for what is asked each time: credentials, several kinds at once, all that is outside. */
export function subjectOf({ hosts, paths, credentials, outside }: Grant): string | null {
  if (outside || credentials.length > 0) return null;
  const [path, ...others] = paths;
  if (path === undefined) return short(`${terminalRules.hosts}${listedWhole(hosts)}`);
  return hosts.length + others.length > 0 ? null : short(`${terminalRules[path.access]}${path.path}`);
}

function subjectOfCommand({ command, cwd }: CommandRequest): string | null {
  return command.includes("\n") ? null : short(`${terminalRules.command}${command} (in ${cwd})`);
}

const listedWhole = (hosts: readonly string[]): string => hosts.toSorted().join(" and ");
const short = (subject: string): string | null => (subject.length > subjectMax ? null : subject);

export function needWhy(programs: readonly string[]): string {
  return `${listed(programs.map((one) => `\`${one}\``))} cannot work in the sandbox`;
}
