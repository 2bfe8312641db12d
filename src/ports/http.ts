// How a platform takes part in the gateway's one HTTP server: it declares its routes, main mounts them behind the guard.

/** How much of a body a route takes; a request that brings more is refused before or while it is read. */
export type BodyLimit =
  | "none"
  /** Read completely, at most so many bytes, before the route runs. */
  | { readonly whole: number }
  /** Handed over as it comes, at most so many bytes. */
  | { readonly stream: number };

export type HttpRoute = {
  readonly method: "GET" | "POST";
  /** The whole path; `:name` stands for one part of it. */
  readonly path: string;
  readonly body: BodyLimit;
  /** A browser may also open it by a short-lived signed address, for what cannot send a header: pictures, downloads. */
  readonly isSigned?: true;
};

/** Why the server refuses a request before a route runs. */
export type HttpRefusal = { readonly status: number; readonly code: string; readonly message: string };

/** Fetch-style answers to everything below a path prefix. */
export type Routes = {
  readonly prefix: string;
  /**
   * Absent: only the gateway's owner gets through, and only under a loopback name. `own`: everybody does, under any name,
   * and the platform checks callers itself, by keys or signatures. Requests that pages of other sites make are refused
   * before.
   */
  readonly auth?: "own";
  /** Everything that is answered. What is asked for beyond it reaches `handle` without a body. */
  readonly routes: readonly HttpRoute[];
  /** Refusals in the shape that its clients know; absent for the gateway's own. */
  refuse?(refusal: HttpRefusal): Response;
  /** Looks at the headers before any of the body is read; an answer refuses the request. Only where `auth` is `own`. */
  admit?(request: Request, caller: Caller): Promise<Response | null>;
  /** The request has a body within the limit of its route. */
  handle(request: Request, caller?: Caller): Promise<Response>;
};

/** `isOwner`: the control token came as a bearer, under a loopback name. */
export type Caller = { readonly isOwner: boolean };

/** What breaks the stream of a body that is larger than its route takes. */
export class BodyTooLarge extends Error {
  override name = "BodyTooLarge";
}
