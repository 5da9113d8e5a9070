import type { Log } from '../logger.ts';
import { findMissing, openServerChecks, type ServerUrls } from './readiness.ts';
import { untilServerAnswers } from '../concurrency/retry.ts';

const NAMES: Readonly<Record<string, string>> = {
  postgres: 'Postgres',
  event_store: 'the event store',
  nats: 'NATS',
};

/**
 * Waits until every server that a process needs to start answers. Logs the servers that do not, with the reason.
 * Rejects at once when `signal` is aborted.
 */
export const waitForServers = async (log: Log, signal: AbortSignal, urls: ServerUrls): Promise<void> => {
  await using servers = openServerChecks(urls);
  const names = Object.keys(servers.checks).map((name) => NAMES[name] ?? name);
  await untilServerAnswers(log, signal, names.join(', '), async () => {
    const missing = await findMissing(servers.checks);
    if (missing.length === 0) return;
    throw new Error(missing.map(({ what, why }) => `${NAMES[what] ?? what}: ${why}`).join('; '));
  });
};
