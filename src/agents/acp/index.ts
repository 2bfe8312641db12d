// Any agent that speaks ACP, as a backend. The agent runs its own loop and its own tools; we put on record what it does as
// it goes, pass its wishes for permission to the user, and take its work up again after any death: from its own session
// where it can load it, else from our record. Each person has a process of their own, with their own workspace.

import { type SessionId, type TurnId, later } from "../../core/ids.ts";
import type { Message } from "../../core/message.ts";
import { type Requester, ownerPerson, requesterOf } from "../../core/requester.ts";
import { noteAlone } from "../../core/resume.ts";
import { orAborted } from "../../core/running/aborted.ts";
import type { PeerWorkspace } from "../../peers/launch.ts";
import { peopleMax, personPool } from "../../peers/pool.ts";
import { programName, refusalFor } from "../../peers/program.ts";
import type { Agent, AgentJob, Step } from "../../ports/agent.ts";
import { blocksOf, filesOf } from "./told/blocks.ts";
import { asked, chosen } from "./choices.ts";
import { type Keeper, keeper } from "./keeper.ts";
import type { Link } from "./link.ts";
import { type AcpOptions, acpPace } from "./options.ts";
import { pastOf } from "./told/past.ts";
import { replay } from "./progress.ts";
import { type Entered, promptFor, remembersMore } from "./told/prompt.ts";
import {
  type AcpData,
  decisionsIn,
  joinedIn,
  saidIn,
  sessionIn,
  stepsIn,
  toolsIn,
  unusedDecision,
} from "./told/record.ts";
import { AcpTrouble } from "./trouble.ts";
import { drafts } from "./shown.ts";
import { type Meter, usageMeter } from "./usage.ts";
import { type Work, startWork } from "./work.ts";

export type { AcpOptions, AcpPace } from "./options.ts";

/** A conversation with a running process of the agent. */
type Place = {
  readonly link: Link;
  /** Whose process it is. */
  readonly person: string;
  readonly session: string;
  readonly meter: Meter;
  /** Until the first prompt: how it was come by. */
  entered: Entered;
  work: Work | null;
  /** A prompt that was told to stop and has not yet. */
  stopping: Promise<void> | null;
  /** The turn whose message it was given and has not answered to the end. */
  delivered: TurnId | null;
  /** The last turn that it was given anything of. */
  last: TurnId | null;
  /** The last question whose answer was passed on. */
  spent: string | null;
  /** Words of the user that it gets when its prompt is over. */
  followUp: string | null;
};

const historyMax = 100;
/** An agent that dies of a session of its own gets a new one. */
const loadsMax = 2;
/** How long a turn waits that finds no room. */
const busyMs = 10_000;
const questionMs = 7 * 24 * 3_600_000;
/** Towards the limit of a journal nothing but the end is put on record. */
const entriesMax = 1_500;

export function acp(options: AcpOptions): Agent {
  const pace = { ...acpPace, ...options.pace };
  const { remembered: placesMax = 200 } = options;
  const places = new Map<SessionId, Place>();
  /** With the person each step is for. */
  const stepping = new Map<SessionId, string>();
  /** Sessions of the agent that could not be loaded, with how often. */
  const dead = new Map<string, number>();

  const ending = new Set<Promise<void>>();
  const processes = personPool<Keeper & { readonly person: string }>({
    max: peopleMax,
    keeps: ownerPerson,
    isIdle: ({ person }) =>
      ![...stepping.values()].includes(person) &&
      ![...places.values()].some((place) => place.person === person && (place.work ?? place.stopping) !== null),
    end(program) {
      const ended = program.close().finally(() => ending.delete(ended));
      ending.add(ended);
    },
  });

  async function linkFor(workspace: PeerWorkspace): Promise<Link> {
    const { person } = workspace;
    const program = processes.get(person, () => ({ person, ...keeper(options, pace, workspace) }));
    if (program !== null) return program.link();
    throw new AcpTrouble("later", `${peopleMax} people use the agent at once, and it has room for no more`, busyMs);
  }

  function letGo(place: Place): void {
    const { work, link } = place;
    if (work === null) return;
    place.work = null;
    place.stopping = work.stop(pace.cancelMs).then(async (stopped) => {
      if (!stopped) await link.close("it did not stop when it was told to");
      place.stopping = null;
    });
  }

  /** The place where a turn goes on: the one in hand where it fits the record, else one that is entered anew. */
  async function placeFor(job: AgentJob, workspace: PeerWorkspace): Promise<Place> {
    const { person } = workspace;
    const known = places.get(job.session);
    if (known !== undefined && known.person !== person) letGo(known);
    const found = known?.person === person ? known : undefined;
    const work = found?.work;
    if (found !== undefined && work) {
      const isMine = work.turn === job.turn && stepsIn(job.journal) === work.stepsBefore + work.stepsGiven;
      if (isMine) return found;
      letGo(found);
    }
    await found?.stopping;
    if (found !== undefined && found.link.over() === null) {
      if (!(await isTakenBack(found, job))) return keep(job, found);
      const { history } = await pastOf(job);
      return keep(job, await newPlace(found.link, person, history));
    }
    // An agent that died before its first word may have stored the message all the same.
    const { spent = null, delivered = null } = found ?? {};
    return keep(job, { ...(await enter(job, workspace)), spent, delivered });
  }

  /** The latest is the last. */
  function keep({ session }: AgentJob, place: Place): Place {
    places.delete(session);
    places.set(session, place);
    return place;
  }

  /** A conversation that rested for long is entered again from its record, as after a restart. */
  function forget(): void {
    if (places.size <= placesMax) return;
    const resting = [...places].filter(
      ([id, { work, stopping }]) => work === null && stopping === null && !stepping.has(id),
    );
    for (const [id] of resting.slice(0, places.size - placesMax)) places.delete(id);
  }

  async function enter(job: AgentJob, workspace: PeerWorkspace): Promise<Place> {
    const { person } = workspace;
    const link = await linkFor(workspace);
    const { session, history, missed, cost } = await pastOf(job);
    if (session !== null && link.can.load && (dead.get(session) ?? 0) < loadsMax) {
      const told = replay();
      if (dead.size >= placesMax) dead.clear();
      // Counted before, because an agent may die of it.
      dead.set(session, (dead.get(session) ?? 0) + 1);
      if (await link.loadSession(session, (update) => told.take(update))) {
        dead.delete(session);
        const lastUser = told.lastUser();
        if (stepsIn(job.journal) > 0 || !remembersMore(lastUser, history)) {
          const meter = usageMeter(link.name, cost);
          return { ...nowhere, link, person, session, meter, entered: { type: "loaded", lastUser, missed } };
        }
      }
    }
    return newPlace(link, person, history);
  }

  async function begin(place: Place, job: AgentJob): Promise<Work> {
    const { input, journal, turn } = job;
    const delivered = place.delivered === turn;
    const { text, withFiles } = promptFor({ input, journal, entered: place.entered, delivered, note: noteAlone(job) });
    const seeing = { can: place.link.can, ...(options.blobs === undefined ? {} : { blobs: options.blobs }) };
    const blocks = await blocksOf(text, withFiles ? filesOf(input, journal) : [], seeing);
    const unused = unusedDecision(journal);
    place.entered = { type: "there" };
    place.delivered = turn;
    place.last = turn;
    place.work = startWork({
      link: place.link,
      session: place.session,
      meter: place.meter,
      turn,
      blocks,
      before: { tools: toolsIn(journal) },
      told: joinedIn(journal).length,
      stepsBefore: stepsIn(journal),
      decision: unused?.question === place.spent ? null : unused,
      choose(permission, decision) {
        place.spent = decision.question;
        return chosen(permission, decision.choice).id;
      },
    });
    return place.work;
  }

  async function step(
    job: AgentJob,
    { party }: Requester,
    workspace: PeerWorkspace,
    signal: AbortSignal,
  ): Promise<Step> {
    const state = await options.host.sandbox.state();
    const refusal = refusalFor(state, party, options.program, `the agent ${programName(options.program.command)}`);
    if (refusal !== null) return { type: "failed", retry: "never", why: refusal };
    const place = await orAborted(placeFor(job, workspace), signal);
    // Where the agent can load it, its session is on record before it is told anything: so nothing is told twice.
    if (place.link.can.load && sessionIn(job.journal) === null && place.work === null) {
      return said(place, "", [], false);
    }
    const work = place.work ?? (await begin(place, job));
    const given = await read(place, work, job, signal);
    work.stepsGiven++;
    return given;
  }

  async function read(place: Place, first: Work, job: AgentJob, signal: AbortSignal): Promise<Step> {
    passAnswer(place, first, job);
    const show = drafts(job);
    let work = first;
    for (;;) {
      if (signal.aborted) {
        letGo(place);
        throw signal.reason;
      }
      const end = work.end();
      if (end !== null && "stop" in end) {
        const next = await followUp(place, work, job);
        if (next === null) return finished(place, work, job, end.stop);
        work = next;
        continue;
      }
      const [wanted] = work.wanted;
      const isMoment = wanted !== undefined || end !== null;
      const isBoundary = work.progress.atBoundary && job.journal.length < entriesMax;
      if (isBoundary || (isMoment && work.progress.hasNews())) {
        const { text, tools } = work.progress.news();
        return said(place, text, tools, false);
      }
      if (wanted !== undefined) {
        work.asked = wanted;
        return { ...asked(wanted.permission, wanted.changed, job.turn), until: later(job.now(), questionMs) };
      }
      if (end !== null) {
        place.work = null;
        throw end.trouble;
      }
      show(work);
      await work.changed(signal);
    }
  }

  /** Messages that joined while it worked, and words that were no answer: it gets them before the turn ends. */
  async function followUp(place: Place, work: Work, job: AgentJob): Promise<Work | null> {
    const joined = joinedIn(job.journal);
    const texts = [...(place.followUp === null ? [] : [place.followUp]), ...joined.slice(work.told)];
    if (texts.length === 0) return null;
    place.followUp = null;
    const { text, tools: fresh } = work.progress.news();
    const next = startWork({
      link: place.link,
      session: place.session,
      meter: place.meter,
      turn: job.turn,
      blocks: await blocksOf(texts.join("\n\n"), [], { can: place.link.can }),
      before: { tools: toolsIn(job.journal), fresh, text: text.trim() === "" ? "" : `${text.trim()}\n\n` },
      told: joined.length,
      stepsBefore: work.stepsBefore,
      decision: null,
      choose: () => null,
    });
    next.stepsGiven = work.stepsGiven;
    place.work = next;
    return next;
  }

  return {
    tools: [],
    async step(job, signal) {
      signal.throwIfAborted();
      const requester = requesterOf(job.input, job.journal);
      const workspace = await options.host.workspaceFor(requester);
      stepping.set(job.session, workspace.person);
      try {
        return await step(job, requester, workspace, signal);
      } catch (error) {
        signal.throwIfAborted();
        if (!(error instanceof AcpTrouble)) throw error;
        const { message: why, retry, afterMs, failure } = error;
        const known = failure === undefined ? {} : { failure };
        return { type: "failed", retry, why, ...(afterMs > 0 ? { afterMs } : {}), ...known };
      } finally {
        stepping.delete(job.session);
        forget();
      }
    },
    async close(session) {
      for (const [id, place] of places) {
        if (session !== "all" && id !== session) continue;
        letGo(place);
        if (place.link.over() !== null || session === "all") places.delete(id);
      }
      if (session === "all") await Promise.all([...processes.all().map((one) => one.close()), ...ending]);
    },
  };
}

const nowhere = { work: null, stopping: null, delivered: null, last: null, spent: null, followUp: null };

async function newPlace(link: Link, person: string, history: readonly Message[]): Promise<Place> {
  const session = await link.newSession();
  const meter = usageMeter(link.name, null);
  return { ...nowhere, link, person, session, meter, entered: { type: "new", history } };
}

/** A new turn, and the one before it is not in the conversation any more: the agent must not remember it either. */
async function isTakenBack({ last }: Place, job: AgentJob): Promise<boolean> {
  if (last === null || last === job.turn || stepsIn(job.journal) > 0) return false;
  return !(await job.history(historyMax)).some((message) => message.turn === last);
}

/** The user's answer to what was asked last goes to whom it belongs. */
function passAnswer(place: Place, work: Work, job: AgentJob): void {
  const { asked: one } = work;
  const decision = decisionsIn(job.journal).at(-1);
  if (one === null || decision === undefined) return;
  work.asked = null;
  const { id, words } = chosen(one.permission, decision.choice);
  place.spent = decision.question;
  place.followUp = words;
  work.settle(one, id);
}

function finished(place: Place, work: Work, job: AgentJob, stop: string): Step {
  place.work = null;
  place.delivered = null;
  const { text, tools } = work.progress.news();
  const whole = [saidIn(job.journal, text), notes[stop] ?? ""].filter((part) => part !== "").join("\n\n");
  return said(place, whole === "" ? "The agent finished without a word." : whole, tools, true);
}

const notes: Readonly<Record<string, string>> = {
  max_tokens: "(The agent stopped here: its answer was as long as it may be.)",
  max_turn_requests: "(The agent stopped here: it used up the steps that it has for one message.)",
  refusal: "(The agent refused to go on with this.)",
  cancelled: "(The agent stopped here: it says that it was cancelled.)",
};

function said(place: Place, text: string, tools: AcpData["acp"]["tools"], final: boolean): Step {
  const { session, meter } = place;
  const usage = meter.take();
  const cost = meter.total();
  const data: AcpData = { acp: { session, tools, ...(cost === null ? {} : { cost }) } };
  // Its tools are its own: what they read is not known, so it may be text from outside.
  const outside = tools.length > 0 ? { outside: true as const } : {};
  return {
    type: "said",
    text: final ? text : text.trim(),
    calls: [],
    final,
    data,
    ...(usage === null ? {} : { usage }),
    ...outside,
  };
}
