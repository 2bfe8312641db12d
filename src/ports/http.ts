// How a platform takes part in the gateway's one HTTP server: it hands over a handler, main mounts it behind the guard.

/** A Fetch-style handler for everything below a path prefix. */
export type Routes = {
  readonly prefix: string;
  handle(request: Request): Promise<Response>;
};
