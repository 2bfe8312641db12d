// Who was started by a terminal, npm or a script stays until the gateway ends, also when that has moved to another
// process: it passes signals on, starts a successor when the gateway asks for one, and ends as the last one ended. So
// there are two processes however often the gateway restarts, and whoever waits for the first one waits for all of them.
// Shared by the launcher and by a gateway that hands over; plain JavaScript that any Node from 20 on can read.

import { readFileSync } from "node:fs";
import { constants } from "node:os";
import { isatty } from "node:tty";

/** How long a successor may take until it has loaded everything; the old gateway serves meanwhile. */
export const loadMs = 30_000;

/**
 * `start` makes a child process with a channel: the first one, or a successor that waits for the lock as many
 * milliseconds as it is given. `own` is true while this process is itself the gateway.
 * The words on the channel: a gateway says `successor` with that patience and the number of its question, and is answered
 * `loaded` with a pid, or `failed` with why, and the same number; it says `dismiss` when it does not want one any more.
 * A successor says `loaded` when it only waits for the lock any more, or `failed` with why before it ends; it is told
 * `left` when the one it follows has ended.
 */
export function attend({ start, own }) {
  let isOwn = own;
  /** Who serves, and who waits for it to end. */
  let serving = null;
  let waiting = null;
  /** How a successor ended that nobody dismissed: after that there is none, and it is the reason. */
  let lost = null;
  let finish;
  const ended = new Promise((resolve) => (finish = resolve));
  const off = passSignals((signal) => {
    serving?.child.kill(signal);
    // Who waits knows nothing of a restart, and whatever else comes is meant for both.
    if (signal !== "SIGUSR1") waiting?.child.kill(signal);
  });

  function begin(patienceMs) {
    const child = start(patienceMs);
    const one = { child, why: null, isLoaded: false };
    one.loaded = new Promise((answer) => {
      const late = patienceMs === null ? undefined : setTimeout(giveUp, loadMs);
      function giveUp() {
        one.why = `it was not ready to take over after ${loadMs / 1000} s`;
        child.kill("SIGKILL");
      }
      child.on("message", (message) => {
        if (message?.everturn === "failed") one.why = String(message.why);
        if (message?.everturn === "successor")
          prepare(message.patienceMs).then((reply) => tell(child, { ...reply, question: message.question }));
        if (message?.everturn === "dismiss") dismiss();
        if (message?.everturn !== "loaded") return;
        clearTimeout(late);
        one.isLoaded = true;
        answer({ everturn: "loaded", pid: child.pid });
      });
      const left = (end, why) => {
        clearTimeout(late);
        answer({ everturn: "failed", why: one.why ?? why });
        leave(one, end);
      };
      child.once("error", (error) =>
        left({ code: 1, signal: null, error }, `it could not be started: ${error.message}`),
      );
      child.once("exit", (code, signal) => {
        const gone = () =>
          left({ code, signal }, `it ended with ${signal ?? `code ${code}`} before it was ready to take over`);
        // Its last words may still be on their way; the channel is closed after them.
        if (child.connected) child.once("disconnect", gone);
        else gone();
      });
    });
    return one;
  }

  function leave(one, end) {
    if (one === waiting) {
      waiting = null;
      if (one.isLoaded && end.signal !== "SIGTERM") lost = end;
    } else if (one === serving) {
      serving = waiting;
      waiting = null;
      // The home is free now, or somebody else has taken it.
      if (serving !== null) tell(serving.child, { everturn: "left" });
    }
    if (!isOwn && serving === null && waiting === null) over(lost ?? end);
  }

  function over(end) {
    off();
    finish(end);
  }

  /** Starts a successor, unless one waits already. */
  function prepare(patienceMs) {
    if (waiting === null) {
      lost = null;
      waiting = begin(patienceMs);
    }
    return waiting.loaded;
  }

  /** It is forgotten at once: who asks again while it ends gets another one. */
  function dismiss() {
    waiting?.child.kill("SIGTERM");
    waiting = null;
  }

  return {
    prepare,
    /** Whoever waits, loaded or not, must not serve. */
    dismiss,
    /** The first child; for who is no gateway itself. */
    first() {
      serving = begin(null);
    },
    /** The gateway in this process is no more; resolves when the last of its successors has ended. */
    stay() {
      isOwn = false;
      serving = waiting;
      waiting = null;
      if (serving === null) over(lost ?? { code: 0, signal: null });
      return ended;
    },
    /** The successor goes on without anybody who stays for it. */
    letGo() {
      off();
      waiting?.child.disconnect();
      waiting?.child.unref();
    },
    ended,
  };
}

function tell(child, message) {
  // Who is gone need not be told.
  if (child.connected) child.send(message, (error) => error && child.connected && child.disconnect());
}

function passSignals(pass) {
  const handlers = Object.entries(signalsToPass()).map(([signal, isOursAlone]) => {
    const heard = () => {
      if (isOursAlone()) pass(signal);
    };
    process.on(signal, heard);
    return () => process.off(signal, heard);
  });
  return () => {
    for (const remove of handlers) remove();
  };
}

/** Which signals must not end the one who stays, and when each of them reached nobody but it and is passed on. */
function signalsToPass() {
  // A Windows console tells every process in it, and there is no other way for these to come.
  if (process.platform === "win32") return { SIGINT: () => false, SIGBREAK: () => false, SIGHUP: () => false };
  const atStart = terminalNow();
  return {
    SIGTERM: () => true,
    SIGUSR1: () => true,
    SIGINT: () => !terminalNow().inFront,
    // A terminal that closes tells whoever leads its session; when that is a shell, everybody hears of it.
    // By the time we look, the terminal is gone.
    SIGHUP: () => atStart.leads || !atStart.present || terminalNow().present,
  };
}

/**
 * Whether there is a terminal, whether we lead its session, and whether what is typed there reaches us: then Ctrl-C
 * went to the child as well, and passing it on would make it two. Only Linux tells exactly. Elsewhere a terminal as
 * standard input stands for it, and a hang-up is passed on in any case: twice does less harm than never.
 */
function terminalNow() {
  if (process.platform !== "linux") return { present: isatty(0), leads: true, inFront: isatty(0) };
  const stat = readFileSync("/proc/self/stat", "utf8");
  // The name in the second field may hold anything, a closing bracket too.
  const [, , group, session, terminal, groupInFront] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return { present: terminal !== "0", leads: session === String(process.pid), inFront: groupInFront === group };
}

/** The exit code that a shell would report for such an end. */
export function codeOf({ code, signal }) {
  return code ?? 128 + (constants.signals[signal] ?? 0);
}
