// The content of an answer by HTTP, for whoever reads it later than the answer came.

/**
 * Holds the answer for as long as nobody reads: the runtime cancels the body of an answer that nobody holds, and whoever
 * begins to read it then finds it empty, and whole.
 */
export async function* contentOf(answer: Response): AsyncGenerator<Uint8Array> {
  if (answer.body !== null) yield* answer.body;
}
