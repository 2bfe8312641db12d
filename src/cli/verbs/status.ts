// `everturn gateway status`: what the running gateway does; with --deep also how its platforms, store and disk are, who
// holds the lock, and whether its service is as it should be. The deep look works without a gateway as well.

import { existsSync } from "node:fs";
import { Fault } from "../../core/fault.ts";
import type { Instant } from "../../core/ids.ts";
import { deniedTodo, ended, healthText } from "../../core/links/health.ts";
import { troubleText } from "../../core/running/patience.ts";
import type { StatusReply } from "../../control/protocol.ts";
import { checkLines } from "../commands/doctor.ts";
import { type Told, checks, examine } from "../doctor/checks.ts";
import type { Findings } from "../doctor/findings.ts";
import { lookAround } from "../doctor/look.ts";
import { judgePlatform } from "../doctor/platforms.ts";
import { judgeServer, serverText } from "../doctor/servers.ts";
import { redactChecks } from "../doctor/redact.ts";
import { type Context, pathsOf, show } from "../context.ts";
import { facts, lasting, sizeText, oneLine, paint, table, when } from "../print.ts";
import { livesOf } from "../story.ts";
import { heldText, heldTodo } from "../held.ts";
import { newLink } from "../commands/link.ts";
import { type Answered, askStatus } from "./gateway.ts";
import { progressLines, progressOf } from "./progress.ts";

export async function status(context: Context): Promise<number> {
  const deep = context.flags["deep"] === true ? await lookDeep(context) : null;
  try {
    const told = await askStatus(context);
    const link = context.output.tty && context.flags["json"] !== true ? (await newLink(context)).link : null;
    return show(context, deep === null ? told : { ...told, deep }, () =>
      [toText(context, told, link, deep !== null), ...deepText(context, deep)].join("\n\n"),
    );
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    const { output, flags } = context;
    const state = error.code === "not-found" ? "stopped" : "unknown";
    const found = { state, reason: error.message, ...(deep === null ? {} : { deep }) };
    if (flags["json"] === true) output.out(JSON.stringify(found));
    else for (const text of deepText(context, deep)) output.out(text);
    // One that ran here before has left its story.
    if (error.code === "not-found" && existsSync(pathsOf(context).store))
      throw new Fault("not-found", `${error.message} \`everturn why\` tells how the last one ended.`, error);
    throw error;
  }
}

type Deep = {
  readonly checks: readonly Told[];
  readonly answeredMs: number | null;
  readonly platforms: NonNullable<Findings["gateway"]>["platforms"];
  readonly servers: NonNullable<Findings["gateway"]>["servers"];
};

async function lookDeep(context: Context): Promise<Deep> {
  const found = await lookAround(context);
  return {
    checks: await redactChecks(
      context,
      examine(
        found,
        checks.filter((one) => one.deep),
      ),
    ),
    answeredMs: found.gateway?.answeredMs ?? null,
    platforms: found.gateway?.platforms ?? [],
    servers: found.gateway?.servers ?? [],
  };
}

function deepText({ output, now }: Context, deep: Deep | null): readonly string[] {
  if (deep === null) return [];
  const ok = { level: "ok", todo: null, fix: null } as const;
  const answer: readonly Told[] =
    deep.answeredMs === null ? [] : [{ ...ok, name: "control", what: `answers in ${Math.round(deep.answeredMs)} ms` }];
  const platforms = deep.platforms.map((one): Told => ({ name: one.name, ...judgePlatform(one, now()) }));
  const servers = deep.servers.map((one): Told => ({ name: `mcp ${oneLine(one.name)}`, ...judgeServer(one, now()) }));
  return [checkLines(output, [...answer, ...platforms, ...servers, ...deep.checks]).join("\n")];
}

/** What the deep look says of platforms and servers is not repeated. */
function toText(context: Context, status: Answered, link: string | null, isDeep: boolean): string {
  const { output } = context;
  const now = context.now();
  const { turns, items } = status.counts;
  const lines = facts(
    [
      ["state", stateText(context, status)],
      [
        "web chat",
        link === null
          ? `${status.url} (\`everturn link\` prints a link that lets a browser in)`
          : `${link} (works once)`,
      ],
      [
        "version",
        `${status.version}, pid ${status.pid}, up ${lasting(status.uptimeSeconds * 1000)}, ${sizeText(status.memoryBytes)}`,
      ],
      ["turns", `${turns.running} running, ${turns.queued} queued, ${turns.waiting} waiting, ${turns.parked} parked`],
      ["outbox", `${items.pending + items.sending} to send, ${items["in-doubt"]} held, ${items.dead} dead`],
      ...heldLines(status, now),
      ...(isDeep ? [] : platformLines(status, now)),
      ...sandboxLine(context, status),
      ...(isDeep ? [] : serverLines(status, now)),
      ...recoveredLine(status),
      ...lastStopLine(status, now),
    ],
    output,
  );
  if (status.draining !== null) return `${lines}\n\n${progressLines(progressOf(status, now)).join("\n")}`;
  if (status.running.length === 0) return lines;
  const rows = status.running.map((one) => [one.turn, one.session, String(one.steps), when(one.startedAt, now)]);
  const troubles = status.running.flatMap(({ turn, trouble }) =>
    trouble === null ? [] : [`Turn ${turn} does not go on: ${oneLine(troubleText(trouble))}`],
  );
  return [`${lines}\n`, table(["TURN", "SESSION", "STEPS", "STARTED"], rows, output), ...troubles].join("\n");
}

function stateText({ output }: Context, { state, reason, safeMode }: StatusReply): string {
  if (safeMode)
    return `${paint(output, "red", "in safe mode")}: ${reason ?? "it died too often before it was ready"}. \`everturn why\` tells more, \`everturn gateway resume\` tries again.`;
  return paint(output, state === "running" ? "green" : "yellow", state) + (reason === null ? "" : `: ${reason}`);
}

/** A gateway of an earlier version does not say which answers are held. */
function heldLines({ held = [] }: Partial<StatusReply>, now: number): readonly (readonly [string, string])[] {
  if (held.length === 0) return [];
  return [...held.map((one) => oneLine(heldText(one, now))), heldTodo].map((line, n) => [n === 0 ? "held" : "", line]);
}

/** Those that do not work, or need attention. A gateway of an earlier version names none. */
function serverLines({ servers = [] }: Partial<StatusReply>, now: number): readonly (readonly [string, string])[] {
  const lines = servers.flatMap((one) => (one.why === null ? [] : [`${oneLine(one.name)} ${serverText(one, now)}`]));
  return lines.map((line, at) => [at === 0 ? "mcp" : "", line] as const);
}

/** Only where something is wrong with it. */
function sandboxLine({ output }: Context, { sandbox }: StatusReply): readonly (readonly [string, string])[] {
  if (sandbox === undefined || sandbox === null || sandbox.type === "on") return [];
  if (sandbox.type === "off" && sandbox.isRefused === true)
    return [
      ["sandbox", `${paint(output, "red", "none: commands and file tools are refused")}. ${oneLine(sandbox.why)}`],
    ];
  if (sandbox.type === "off" && sandbox.isAccepted) return [["sandbox", "none, as configured; nearly every call asks"]];
  const what =
    sandbox.type === "off" ? "none: tools have all your rights, and nearly every call asks" : "missing: no tool runs";
  return [["sandbox", `${paint(output, "red", what)}. ${oneLine(sandbox.why)}`]];
}

function recoveredLine({ recovered: { turns, items } }: StatusReply): readonly (readonly [string, string])[] {
  return turns + items === 0 ? [] : [["took over", `unfinished turns: ${turns}, replies: ${items}, from the last run`]];
}

/** How the life before this one ended. */
function lastStopLine({ boots, boot }: StatusReply, now: number): readonly (readonly [string, string])[] {
  const machine = boots.find((one) => one.id === boot)?.machine ?? "";
  const before = livesOf(boots, { now, alive: boot, machine }).find((one) => one.boot !== boot);
  return before === undefined ? [] : [["last stop", before.headline]];
}

/** A line each; those that want something from their owner say so. */
function platformLines({ platforms }: StatusReply, now: number): readonly (readonly [string, string])[] {
  const lines = platforms.map((one) => {
    const notice = one.notice === undefined ? "" : `; ${oneLine(one.notice)}`;
    const how = `${one.platform} ${oneLine(healthText(one, now as Instant))}${notice}`;
    return one.state === "denied" ? `${ended(how)} ${deniedTodo(one.platform)}` : how;
  });
  if (lines.length === 0) return [["platforms", "none"]];
  return lines.map((line, at) => [at === 0 ? "platforms" : "", line] as const);
}
