// How a platform takes part in the gateway's one HTTP server: it hands over routes, main mounts them behind the guard.

/** A Fetch-style answer to everything below a path prefix. */
export type Routes = {
  readonly prefix: string;
  /**
   * Absent: only the gateway's owner gets through, and only under a loopback name. `own`: everybody does, under any name,
   * and the platform checks callers itself, by keys or signatures. Cookies never count there, and requests that pages
   * of other sites make are refused before.
   */
  readonly auth?: "own";
  handle(request: Request, caller?: Caller): Promise<Response>;
};

/** `isOwner`: the control token came as a bearer, under a loopback name. */
export type Caller = { readonly isOwner: boolean };
