import { pause } from '../clock.ts';
import { type RawEvent, openRawLog } from '../event-store/copy/raw-log.ts';
import { isAccessDenied, isConnectionFault } from '../event-store/errors.ts';
import { openPool } from '../postgres/pool.ts';
import { UnsupportedEventStore, requireSupportedServer } from '../event-store/server-version.ts';
import type { Log } from '../logger.ts';
import { type ServerUrls, findMissing, openServerChecks } from './readiness.ts';
import { untilServerAnswers } from '../concurrency/retry.ts';

/** Compares the event that the projector noted with the log: a database may come from another one. */

/** A follower of a cluster may be late. */
const LOOKS = 3;
const LOOK_PAUSE_MS = 1_000;
const ANSWER_MS = 10_000;
/** SQLSTATEs of a missing table and a missing schema. */
const MISSING = new Set(['42P01', '3F000']);

type Noted = { readonly position: string; readonly event_id: string };

/** Thrown when the read models come from another log, or from events that this log lacks. */
export class OtherLog extends Error {
  constructor({ position, event_id: id }: Noted) {
    super(
      `The log of EVENT_STORE_URL does not have the event ${id} at position ${position}, from which the read models of ` +
        'DATABASE_URL were computed: it is another log, a copy, or an older backup. If this log is the right one, stop all ' +
        'processes, run `npm run ops -- log adopt --yes`, and start them again: the read models are then computed from it.',
    );
    this.name = 'OtherLog';
  }
}

const readNoted = async (databaseUrl: string): Promise<Noted | null> => {
  const pool = openPool(databaseUrl, 1);
  try {
    const { rows } = await pool.query<Noted>('select position::text, event_id::text from run.known_event');
    return rows[0] ?? null;
  } catch (error) {
    if (MISSING.has((error as { code?: string }).code ?? '')) return null;
    throw error;
  } finally {
    await pool.end();
  }
};

/** `null` for the right log or an empty database. */
export const findOtherLog = async (databaseUrl: string, eventStoreUrl: string): Promise<OtherLog | null> => {
  const noted = await readNoted(databaseUrl);
  if (!noted) return null;
  const log = openRawLog(eventStoreUrl, ANSWER_MS);
  for (let look = 1; ; look += 1) {
    let found: RawEvent | null = null;
    try {
      found = await log.at(BigInt(noted.position));
    } catch (error) {
      // A server refuses a position at which no event stands.
      if (isConnectionFault(error) || isAccessDenied(error)) throw error;
    }
    if (found?.id === noted.event_id) return null;
    if (found || look === LOOKS) return new OtherLog(noted);
    await pause(LOOK_PAUSE_MS);
  }
};

/** Wait for the event store at the start, so that a process knows its log before it works. */
const KNOWN_LOG_WAIT_MS = 5_000;

const NAMES: Readonly<Record<string, string>> = {
  postgres: 'Postgres',
  event_store: 'the event store',
  nats: 'NATS',
};

/** Rejects at once when aborted, for an unsupported event store, and for another log than the database's. */
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
