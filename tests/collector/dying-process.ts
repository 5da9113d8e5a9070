import { ErrorCode } from 'nats';
import { expect } from 'vitest';
import type { Nats } from '#platform/nats/connection.ts';
import type { Database, Transaction } from '#platform/postgres/pool.ts';

/** A process that dies right after the n-th thing that it stored or published. */
export class DyingProcess {
  readonly ended = new AbortController();
  private passed = 0;

  private readonly at: number;
  constructor(at: number) {
    this.at = at;
  }

  get isDead(): boolean {
    return this.ended.signal.aborted;
  }

  /** The code is one that a publisher does not repeat for seconds: a killed process does nothing more. */
  private requireAlive(): void {
    if (!this.isDead) return;
    throw Object.assign(new Error('This process was killed.'), { code: ErrorCode.MaxPayloadExceeded });
  }

  private pass(): void {
    this.passed += 1;
    if (this.passed === this.at) this.ended.abort();
  }

  private async query(
    target: Pick<Database, 'query'>,
    isInTransaction: boolean,
    text: string,
    values?: unknown[],
  ) {
    // Postgres itself rolls back when a process dies.
    if (text !== 'rollback') this.requireAlive();
    const result = await target.query(text, values);
    const isCommit = isInTransaction ? text === 'commit' : !/^\s*select\b/i.test(text);
    // A claim that finds nothing stores nothing.
    if (isCommit && (text === 'commit' || (result.rowCount ?? 0) > 0)) this.pass();
    return result;
  }

  database(database: Database): Database {
    const connect = async (): Promise<Transaction> => {
      this.requireAlive();
      const client = await database.connect();
      return {
        query: (text: string, values?: unknown[]) => this.query(client, true, text, values),
        release: (error?: Error) => client.release(error),
      } as unknown as Transaction;
    };
    return {
      connect,
      query: (text: string, values?: unknown[]) => this.query(database, false, text, values),
    } as unknown as Database;
  }

  /** Collects published messages in `messages`; a repeated message must have equal bytes. */
  jetstream({ jetstream }: Nats, messages: Map<string, string>): Pick<Nats, 'jetstream'> {
    const publish: Nats['jetstream']['publish'] = async (subject, payload, options) => {
      this.requireAlive();
      const text = Buffer.from(payload as Uint8Array).toString();
      // A message without an id is known by its bytes. A large body has the id of the message that refers to it.
      const id = `${subject} ${options?.msgID ?? text}`;
      expect(messages.get(id) ?? text).toBe(text);
      messages.set(id, text);
      const stored = await jetstream.publish(subject, payload, options);
      this.pass();
      return stored;
    };
    return { jetstream: { publish } as Nats['jetstream'] };
  }
}
