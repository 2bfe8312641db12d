// Which login method of an agent can be used with the variables in its environment, and what the user has to set where none
// can. Pure.

import { list, record, words } from "./choices.ts";

export type LoginMethod = {
  readonly id: string;
  readonly name: string;
  /** Sets of variables; each set is enough on its own. Empty where no variable helps. */
  readonly needs: readonly (readonly string[])[];
};

export type LoginDecision =
  /** `variables` are those that the method reads. */
  | { readonly type: "use"; readonly method: LoginMethod; readonly variables: readonly string[] }
  /** `sets`: each of them would be enough. */
  | { readonly type: "missing"; readonly sets: readonly (readonly string[])[] }
  | { readonly type: "by-hand"; readonly names: readonly string[] };

/** Methods whose id does not say which variables they read. */
const knownIds: Readonly<Record<string, LoginMethod["needs"]>> = {
  openai: [["OPENAI_API_KEY"]],
  "vertex-ai": [["GOOGLE_API_KEY"], ["GOOGLE_CLOUD_PROJECT", "GOOGLE_CLOUD_LOCATION"]],
};

/** By the provider that a method names in `_meta["api-key"]`. */
const providerKeys: Readonly<Record<string, LoginMethod["needs"]>> = {
  anthropic: [["ANTHROPIC_API_KEY"]],
  google: [["GEMINI_API_KEY"]],
  openai: [["OPENAI_API_KEY"], ["CODEX_API_KEY"]],
};

/** Agents that read a key without any `authenticate`, by a part of their name. */
const ownKeys: readonly (readonly [RegExp, LoginMethod["needs"]])[] = [
  [/claude/i, [["ANTHROPIC_API_KEY"], ["CLAUDE_CODE_OAUTH_TOKEN"]]],
  [/codex/i, [["OPENAI_API_KEY"], ["CODEX_API_KEY"]]],
  [/gemini/i, [["GEMINI_API_KEY"]]],
];

/** Reads `authMethods` of an `initialize` response. Methods that need a terminal are never for `authenticate`. */
export function loginMethods(offered: unknown): readonly LoginMethod[] {
  return list(offered).flatMap((one) => {
    const { id, name, type } = record(one);
    if (words(id) === "" || type === "terminal") return [];
    return [{ id: words(id), name: words(name) || words(id), needs: needsOf(words(id), record(one)) }];
  });
}

function needsOf(id: string, method: Readonly<Record<string, unknown>>): LoginMethod["needs"] {
  const named = list(method["vars"]).flatMap((one) => {
    const { name, optional } = record(one);
    return words(name) === "" || optional === true ? [] : [words(name)];
  });
  if (named.length > 0) return [named];
  const known = knownIds[id];
  if (known !== undefined) return known;
  const { provider } = record(record(method["_meta"])["api-key"]);
  const ofProvider = providerKeys[words(provider)];
  if (ofProvider !== undefined) return ofProvider;
  const [, service] = /^([a-z0-9-]+)-api-key$/.exec(id) ?? [];
  return service === undefined ? [] : [[`${service.replaceAll("-", "_").toUpperCase()}_API_KEY`]];
}

/** The first method in the agent's order whose variables are all set. */
export function decideLogin(
  agent: string,
  methods: readonly LoginMethod[],
  environment: Readonly<Record<string, string>>,
): LoginDecision {
  for (const method of methods) {
    const set = completeSet(method.needs, environment);
    if (set !== undefined) return { type: "use", method, variables: set };
  }
  const offered = methods.flatMap(({ needs }) => needs);
  const sets = offered.length > 0 ? offered : (ownKeys.find(([name]) => name.test(agent))?.[1] ?? []);
  if (sets.length > 0) return { type: "missing", sets };
  return { type: "by-hand", names: methods.map(({ name }) => name) };
}

function completeSet(sets: LoginMethod["needs"], environment: Readonly<Record<string, string>>) {
  return sets.find((names) => names.every((name) => (environment[name] ?? "").trim() !== ""));
}

const byHand = "log in by hand and give it the folder of its login files in agent.acp.paths";

/** Why the agent cannot be used, for its user. `said` is the agent's own reason, empty where it gives none. */
export function loginFault(
  agent: string,
  decision: LoginDecision,
  environment: Readonly<Record<string, string>>,
  said: string,
): string {
  const reason = said === "" || /^authentication required\.?$/i.test(said) ? "" : `: ${said.replace(/[.\s]+$/, "")}`;
  const refused = (names: readonly string[]) =>
    `the agent ${agent} did not accept ${names.join(" and ")}${reason}. Check the value in agent.acp.env`;
  if (decision.type === "use") return refused(decision.variables);
  if (decision.type === "by-hand") {
    const offers = decision.names.length === 0 ? "" : ` (it offers: ${decision.names.join(", ")})`;
    return `the agent ${agent} needs a login${reason}${offers}. To use it, ${byHand}`;
  }
  const used = completeSet(decision.sets, environment);
  if (used !== undefined) return refused(used);
  const wanted = [...new Set(decision.sets.map((set) => set.join(" and ")))];
  return `the agent ${agent} needs a login${reason}. Set ${eitherOf(wanted)} in agent.acp.env, or ${byHand}`;
}

function eitherOf(names: readonly string[]): string {
  const last = names.at(-1) ?? "";
  return names.length < 2 ? last : `${names.slice(0, -1).join(", ")} or ${last}`;
}
