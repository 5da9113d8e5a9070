/**
 * Loaded into each service with `node --import`. Stops the service in order when the process that started it has
 * ended for any reason, so a killed `npm start` leaves no process running.
 */
const LEAVE_LIMIT_MS = 9_000;

process.once('disconnect', () => {
  setTimeout(() => process.exit(1), LEAVE_LIMIT_MS).unref();
  process.kill(process.pid, 'SIGTERM');
});
// Unreferenced, so that the channel does not keep a process alive that has finished.
process.channel?.unref();
