import { setTimeout as delay } from 'node:timers/promises';
import type pg from 'pg';
import { closeSession, openWriterSession } from './write/writer-session.ts';
import type { EventStoreLog } from './logger.ts';
import type { Writer } from './write/writer.ts';

const RECONNECT_PAUSE_MS = 250;
const MAX_RECONNECT_PAUSE_MS = 2_000;

/** When the connection breaks, the writer refuses calls at once and reopens from what is really in the log. */
export class Connection {
  readonly #databaseUrl: string;
  readonly #lockWaitMs: number;
  readonly #log: EventStoreLog;
  readonly #writer: Writer;
  #session: pg.Client | null = null;
  #isClosed = false;

  constructor(databaseUrl: string, lockWaitMs: number, log: EventStoreLog, writer: Writer) {
    this.#databaseUrl = databaseUrl;
    this.#lockWaitMs = lockWaitMs;
    this.#log = log;
    this.#writer = writer;
  }

  get isUp(): boolean {
    return this.#session !== null;
  }

  async open(): Promise<void> {
    const client = await openWriterSession(this.#databaseUrl, this.#lockWaitMs);
    let hasEnded = false;
    client.once('end', () => {
      hasEnded = true;
      this.#lose(client, new Error('The connection to PostgreSQL has ended.'));
    });
    try {
      await this.#writer.open(client);
      if (hasEnded || this.#isClosed) throw new Error('The connection to PostgreSQL has ended.');
    } catch (error) {
      this.#writer.suspend();
      await closeSession(client);
      throw error;
    }
    this.#session = client;
  }

  distrust(error: unknown): void {
    if (this.#session !== null) this.#lose(this.#session, error);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    const session = this.#session;
    this.#session = null;
    if (session !== null) await closeSession(session);
  }

  #lose(client: pg.Client, error: unknown): void {
    if (client !== this.#session) return;
    this.#session = null;
    this.#writer.suspend();
    this.#log.warn({ err: error }, 'database lost');
    void this.#reopen(client);
  }

  async #reopen(lost: pg.Client): Promise<void> {
    await closeSession(lost);
    let pauseMs = RECONNECT_PAUSE_MS;
    while (!this.#isClosed && !this.isUp) {
      try {
        await this.open();
        this.#log.info({}, 'database found again');
      } catch (error) {
        this.#log.warn({ err: error, pauseMs }, 'database still away');
        await delay(pauseMs);
        pauseMs = Math.min(2 * pauseMs, MAX_RECONNECT_PAUSE_MS);
      }
    }
  }
}
