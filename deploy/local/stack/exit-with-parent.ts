/**
 * Loaded before each service (`node --import`): when the process that started it is gone, however it went, the
 * service stops in order as if asked to. So a killed `npm start` leaves nothing running.
 */
const LEAVE_LIMIT_MS = 9_000;

process.once('disconnect', () => {
  setTimeout(() => process.exit(1), LEAVE_LIMIT_MS).unref();
  process.kill(process.pid, 'SIGTERM');
});
// The channel alone must not keep a process running whose work is done.
process.channel?.unref();
