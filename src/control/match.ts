// Finds the route of a request. The first one that fits wins, so fixed words stand before `:names`. Pure.

import type { HttpRoute } from "../ports/http.ts";

export type Params = Readonly<Record<string, string>>;

export type Match<R extends HttpRoute> =
  | { readonly type: "found"; readonly route: R; readonly params: Params }
  | { readonly type: "wrong-method"; readonly allow: readonly string[] }
  | { readonly type: "nothing" };

export function matchRoute<R extends HttpRoute>(routes: readonly R[], method: string, path: string): Match<R> {
  const allow: string[] = [];
  for (const route of routes) {
    const params = paramsOf(route.path, path);
    if (params === null) continue;
    if (route.method === method) return { type: "found", route, params };
    allow.push(route.method);
  }
  return allow.length === 0 ? { type: "nothing" } : { type: "wrong-method", allow };
}

function paramsOf(pattern: string, path: string): Params | null {
  const words = pattern.split("/");
  const given = path.split("/");
  if (words.length !== given.length) return null;
  const params: Record<string, string> = {};
  for (const [at, word] of words.entries()) {
    const part = given[at] ?? "";
    if (!word.startsWith(":")) {
      if (word !== part) return null;
      continue;
    }
    const value = decoded(part);
    if (value === null || value === "") return null;
    params[word.slice(1)] = value;
  }
  return params;
}

function decoded(text: string): string | null {
  try {
    return decodeURIComponent(text);
  } catch (error) {
    if (error instanceof URIError) return null;
    throw error;
  }
}
