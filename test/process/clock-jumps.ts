// Loaded before the program (`node --import`): at the first request to stop the machine's clock is set by as many
// milliseconds as CLOCK_JUMP says, as an administrator or a time server does it.

const jump = Number(process.env["CLOCK_JUMP"] ?? 0);
const now = Date.now.bind(Date);

process.once("SIGTERM", () => {
  Date.now = () => now() + jump;
});
