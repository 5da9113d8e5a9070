import { requireSupportedServer, UnsupportedEventStore } from '../event-store/server-version.ts';
import type { Log } from '../logger.ts';
import { findOtherLog, type OtherLog } from './known-log.ts';
import { findMissing, openServerChecks, type ServerUrls } from './readiness.ts';
import { pause } from '../clock.ts';
import { untilServerAnswers } from '../concurrency/retry.ts';

/** Wait for the event store at the start, so that a process knows its log before it works. */
const KNOWN_LOG_WAIT_MS = 5_000;

const NAMES: Readonly<Record<string, string>> = {
  postgres: 'Postgres',
  event_store: 'the event store',
  nats: 'NATS',
};

/**
 * Rejects at once when `signal` is aborted, for an unsupported event store, and for another log than that of the
 * database.
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

/**
 * For a process that works without its event store. Rejects for another log or release; a later answer is passed to
 * `onLate`, by default an unhandled rejection that ends the process.
 */
export const checkKnownLog = async (
  log: Log,
  signal: AbortSignal,
  urls: Required<Pick<ServerUrls, 'DATABASE_URL' | 'EVENT_STORE_URL'>>,
  waitMs: number = KNOWN_LOG_WAIT_MS,
  onLate: (error: unknown) => void = (error) => {
    throw error;
  },
): Promise<void> => {
  const checked = waitForServers(log, signal, urls);
  const finished = new AbortController();
  try {
    await Promise.race([checked, pause(waitMs, finished.signal)]);
  } finally {
    finished.abort();
  }
  void checked.catch((error: unknown) => {
    if (!signal.aborted) onLate(error);
  });
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
