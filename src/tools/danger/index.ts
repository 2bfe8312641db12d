// What the judgement offers to tools: a look at a command, a path or an address before anything happens, the verdict that
// follows from it under a policy, and the digest that binds an approval to exactly what was shown.

export { type Parts, boundTo } from "./bound.ts";
export { judgeCommand } from "./command.ts";
export { type Foreign, judgeFetch, judgeForeign } from "./foreign.ts";
export { type CommandPlaces, type Judgement, type Places, dangerous, forbidden, plain, worst } from "./judgement.ts";
export { type PathUse, isInside, judgePath } from "./paths.ts";
export { scriptOf, scriptsOf } from "./script.ts";
export { type Simple, simpleCommands } from "./shell/simple.ts";
export { type Case, type Policy, verdictOf } from "./verdict.ts";
