/**
 * Loaded into services with `node --import`: stops the service when its parent has ended, so that a killed `npm start`
 * leaves none.
 */
const LEAVE_LIMIT_MS = 9_000;

process.once('disconnect', () => {
  setTimeout(() => process.exit(1), LEAVE_LIMIT_MS).unref();
  process.kill(process.pid, 'SIGTERM');
});
// Unreferenced, so that the channel does not keep a process alive that has finished.
process.channel?.unref();
