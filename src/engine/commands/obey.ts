// What the commands inside a chat do and answer. Each is carried out in the very commit that accepts it, so a command
// that was acknowledged has happened, once.

import { fateText } from "../../core/asked/late.ts";
import type { Standing } from "../../core/access/standing.ts";
import { Bug, type Instant } from "../../core/ids.ts";
import { type Inbound, formatAddress } from "../../core/message.ts";
import { type Route, commands } from "../../core/route.ts";
import { troubleText } from "../../core/running/patience.ts";
import { standingHere } from "../access/gate.ts";
import { lookUp } from "../asked/fate.ts";
import type { Lane, Lanes } from "../lanes/lanes.ts";
import type { Parts } from "../parts.ts";
import { activityAt, askedTexts, listed } from "./beside.ts";
import { startOver, stop, workingAt } from "./ending.ts";
import { undo } from "./exchange.ts";
import { setHome } from "./home.ts";
import { chooseModel } from "./model.ts";
import { type Obeyed, only } from "./obeyed.ts";

type Command = Exclude<Route, { type: "turn" | "answer" }>;

export async function obey(
  parts: Parts,
  lanes: Lanes,
  lane: Lane,
  route: Command,
  inbound: Inbound,
  at: Instant,
): Promise<Obeyed> {
  switch (route.type) {
    case "late-answer":
      return only(fateText(await lookUp(parts, route.question)));
    case "no-decision":
      return only(`Nothing was decided. Answer with one of: ${route.choices.join(", ")}.`);
    case "unknown-command": {
      const hint = route.nearest === null ? "Send /help to see what there is." : `Did you mean /${route.nearest}?`;
      return only(`I do not know /${route.name}. ${hint}`);
    }
    case "command":
      return obeyKnown(parts, lanes, lane, route, inbound, at);
  }
}

async function obeyKnown(
  parts: Parts,
  lanes: Lanes,
  lane: Lane,
  { name, rest }: Route & { type: "command" },
  inbound: Inbound,
  at: Instant,
): Promise<Obeyed> {
  switch (name) {
    case "help":
      return only(helpText());
    case "whoami":
      return only(whoText(inbound, await standingHere(parts, inbound)));
    case "status":
      return only(await statusText(parts, lanes, lane));
    case "stop":
      return stop(parts, lanes, lane, at);
    case "new":
      return startOver(parts, lanes, lane, at);
    case "model":
      return chooseModel(parts, lane, rest);
    case "undo":
      return undo(parts, lane);
    case "resend":
      // Answered where it is planned, because it moves items.
      return only("There is nothing to send again.");
    case "retry":
      // Where there is something to answer again, it has become a turn.
      return only("There is nothing to answer again.");
    case "approve":
    case "deny":
      // Where something waits to be allowed, this was its answer.
      return only("Nothing waits to be allowed here.");
    case "restart":
    case "pair":
      throw new Bug(`/${name} has a plan of its own`);
    case "sethome":
      return setHome(parts, inbound, rest);
  }
}

function whoText({ sender, name, from }: Inbound, { party, commands, approves }: Standing): string {
  const called = name === undefined || name === sender ? "" : ` (${name})`;
  const role = commands || party !== "person" ? [" You are an admin here."] : [];
  const may = approves ? [" You may approve what I ask for."] : [];
  return [`You are ${sender}${called}, writing from ${formatAddress(from)}.`, ...role, ...may].join("");
}

function helpText(): string {
  const lines = Object.entries(commands).map(([name, what]) => `- /${name}: ${what}`);
  return ["Write to me, and I answer. These commands work at any time:", ...lines].join("\n");
}

async function statusText(parts: Parts, lanes: Lanes, lane: Lane): Promise<string> {
  const running = workingAt(lanes, lane);
  const { length: queued } = await parts.store.queuedTurns(lane.session.id, 100);
  const open = await parts.store.questionsAt(lane.session.key);
  const waits = [
    ...(queued > 0 ? [`${queued} more ${queued === 1 ? "message waits" : "messages wait"}.`] : []),
    ...askedTexts(open),
  ];
  if (waits.length === 0) waits.push("Nothing waits.");
  const beside = await activityAt(parts, lane.session.address);
  const more = beside.length === 0 ? "" : `\nIn the background:${listed(beside)}`;
  if (running === null) return `${["I am not working on anything here.", ...waits].join(" ")}${more}`;
  const { now } = running.turn;
  const seconds = now.state === "running" ? Math.round((parts.world.now() - now.startedAt) / 1000) : 0;
  const steps = `${running.steps} ${running.steps === 1 ? "step" : "steps"}`;
  const trouble = running.trouble === null ? [] : [`I cannot go on at the moment: ${troubleText(running.trouble)}`];
  const doing = `I have been working for ${seconds} s and finished ${steps}.`;
  return `${[doing, ...trouble, ...waits].join(" ")}${more}`;
}
