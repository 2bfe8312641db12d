// Loaded before the program (`node --import`): at the signal CLOCK_SIGNAL, or at the first request to stop, the machine's
// clock is set by CLOCK_JUMP milliseconds, as an administrator or a time server does it.

const jump = Number(process.env["CLOCK_JUMP"] ?? 0);
const now = Date.now.bind(Date);

process.once((process.env["CLOCK_SIGNAL"] ?? "SIGTERM") as NodeJS.Signals, () => {
  Date.now = () => now() + jump;
});
