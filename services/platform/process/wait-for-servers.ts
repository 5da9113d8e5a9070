import { requireSupportedServer, UnsupportedEventStore } from '../event-store/server-version.ts';
import type { Log } from '../logger.ts';
import { findOtherLog, type OtherLog } from './known-log.ts';
import { findMissing, openServerChecks, type ServerUrls } from './readiness.ts';
import { untilServerAnswers } from '../concurrency/retry.ts';

const NAMES: Readonly<Record<string, string>> = {
  postgres: 'Postgres',
  event_store: 'the event store',
  nats: 'NATS',
};

/**
 * Waits until every server that a process needs to start answers. Logs the servers that do not, with the reason.
 * Rejects at once when `signal` is aborted, when the event store is a release that this service does not work with, and
 * when its log is not the one from which the database was computed.
 */
export const waitForServers = async (log: Log, signal: AbortSignal, urls: ServerUrls): Promise<void> => {
  await using servers = openServerChecks(urls);
  const names = Object.keys(servers.checks).map((name) => NAMES[name] ?? name);
  const unsuitable = await untilServerAnswers(log, signal, names.join(', '), async () => {
    const missing = await findMissing(servers.checks);
    if (missing.length === 0) return await findUnsuitable(urls);
    throw new Error(missing.map(({ what, why }) => `${NAMES[what] ?? what}: ${why}`).join('; '));
  });
  if (unsuitable) throw unsuitable;
};

const findUnsuitable = async ({
  DATABASE_URL,
  EVENT_STORE_URL,
}: ServerUrls): Promise<UnsupportedEventStore | OtherLog | null> =>
  EVENT_STORE_URL === undefined
    ? null
    : ((await findUnsupported(EVENT_STORE_URL)) ?? (await findOtherLog(DATABASE_URL, EVENT_STORE_URL)));

const findUnsupported = async (url: string): Promise<UnsupportedEventStore | null> => {
  try {
    await requireSupportedServer(url);
    return null;
  } catch (error) {
    if (error instanceof UnsupportedEventStore) return error;
    throw error;
  }
};
