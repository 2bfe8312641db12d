// What is shown of a growing answer while the gateway comes and goes. Pure. A loss leaves the words so far, because the turn
// goes on; they are replaced by its new words, or by whatever was said meanwhile.

import type { FeedEvent } from "./feed.ts";

export type Preview = {
  readonly text: string | null;
  /** From before a loss. */
  readonly isOld: boolean;
};

export const noPreview: Preview = { text: null, isOld: false };

export function previewAfter(preview: Preview, event: FeedEvent): Preview {
  switch (event.type) {
    case "draft":
      // A turn that is taken up again says so before it has words.
      return event.text === "" && preview.isOld ? preview : { text: event.text, isOld: false };
    case "away":
      return preview.text === null ? preview : { ...preview, isOld: true };
    case "message":
      // A new connection does not say that there is no draft any more; the answer says it.
      return preview.isOld && event.message.role !== "user" ? noPreview : preview;
    case "live":
    case "back":
      return preview;
  }
}
