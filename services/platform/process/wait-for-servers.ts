import { requireSupportedServer, UnsupportedEventStore } from '../event-store/server-version.ts';
import type { Log } from '../logger.ts';
import { findOtherLog, type OtherLog } from './known-log.ts';
import { findMissing, openServerChecks, type ServerUrls } from './readiness.ts';
import { pause } from '../clock.ts';
import { untilServerAnswers } from '../concurrency/retry.ts';

/** Milliseconds that the start of a process waits for its event store, so that it does nothing before it knows the log. */
const KNOWN_LOG_WAIT_MS = 5_000;

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

/**
 * Checks the log for a process that starts and works while its event store is gone. Waits for the event store for
 * `KNOWN_LOG_WAIT_MS`. Rejects when its log is not the one from which the database was computed, or its release is not
 * supported. An event store that answers later is checked then, and `onLate` gets the error: by default it is an unhandled
 * rejection, which ends the process.
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
