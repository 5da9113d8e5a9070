import type pg from 'pg';
import copyStreams from 'pg-copy-streams';
import type { StoredEvent } from './model.ts';
import { TOMBSTONE_REVISION } from './protobuf.ts';

/**
 * Pages of events by binary COPY: the driver hands over the bytes as PostgreSQL sends them, where an ordinary
 * result would spell every payload in hexadecimal. COPY takes no parameters, so numbers are checked and names
 * quoted here.
 */

export interface PageOfAll {
  /** Exclusive. */
  readonly after: number;
  readonly limit: number;
}

export class Pages {
  readonly #pool: pg.Pool;

  constructor(pool: pg.Pool) {
    this.#pool = pool;
  }

  /** Events of all streams after a position, in commit order. */
  allForwards(after: number, limit: number): Promise<StoredEvent[]> {
    return this.#copy(`where position > ${integer(after)} order by position limit ${integer(limit)}`);
  }

  /** Events of all streams before a position, newest first. */
  allBackwards(before: number, limit: number): Promise<StoredEvent[]> {
    return this.#copy(`where position < ${integer(before)} order by position desc limit ${integer(limit)}`);
  }

  /** Events of one stream from one revision to another, both inclusive, in the order asked for. */
  ofStream(
    stream: string,
    range: {
      readonly lowest: number;
      readonly highest: number;
      readonly backwards: boolean;
      readonly limit: number;
    },
  ): Promise<StoredEvent[]> {
    return this.#copy(
      `where stream = ${literal(stream)} and revision between ${revision(range.lowest)} and ` +
        `${revision(range.highest)} order by revision ${range.backwards ? 'desc' : 'asc'} limit ${integer(range.limit)}`,
    );
  }

  async #copy(condition: string): Promise<StoredEvent[]> {
    const client = await this.#pool.connect();
    try {
      const events = parsePage(await copyOut(client, COLUMNS + condition));
      client.release();
      return events;
    } catch (error) {
      client.release(true);
      throw error;
    }
  }
}

const COLUMNS =
  'select position, revision, created, is_json, id, stream, type, metadata, data from event_store.event ';

function copyOut(client: pg.PoolClient, select: string): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    const source = client.query(copyStreams.to(`copy (${select}) to stdout (format binary)`));
    source.on('data', (chunk: Buffer) => chunks.push(chunk));
    source.on('error', reject);
    source.on('end', () => resolve(Buffer.concat(chunks)));
  });
}

/** "PGCOPY\n\377\r\n\0", flags, and the length of an extension that nobody uses. */
const COPY_HEADER_BYTES = 19;
const END_OF_COPY = -1;
/** PostgreSQL counts microseconds from the year 2000. */
export const POSTGRES_EPOCH_MS = 946_684_800_000;

function parsePage(page: Buffer): StoredEvent[] {
  const events: StoredEvent[] = [];
  let at = COPY_HEADER_BYTES;
  while (page.readInt16BE(at) !== END_OF_COPY) {
    // Of each row: the number of columns, then per column its length and its bytes.
    const streamAt = at + 67;
    const streamEnd = streamAt + page.readInt32BE(streamAt - 4);
    const typeAt = streamEnd + 4;
    const typeEnd = typeAt + page.readInt32BE(streamEnd);
    const metadataAt = typeEnd + 4;
    const metadataEnd = metadataAt + page.readInt32BE(typeEnd);
    const dataAt = metadataEnd + 4;
    const dataEnd = dataAt + page.readInt32BE(metadataEnd);
    events.push({
      position: readInt64(page, at + 6),
      revision: readInt64(page, at + 18),
      createdMs: POSTGRES_EPOCH_MS + readInt64(page, at + 30) / 1000,
      isJson: page[at + 42] === 1,
      id: page.subarray(at + 47, at + 63),
      stream: page.subarray(streamAt, streamEnd),
      type: page.subarray(typeAt, typeEnd),
      metadata: page.subarray(metadataAt, metadataEnd),
      data: page.subarray(dataAt, dataEnd),
    });
    at = dataEnd;
  }
  return events;
}

/** The tombstone's 2^63 - 1 comes out as its stand-in. */
function readInt64(page: Buffer, offset: number): number {
  const value = page.readInt32BE(offset) * 2 ** 32 + page.readUInt32BE(offset + 4);
  return value > Number.MAX_SAFE_INTEGER ? TOMBSTONE_REVISION : value;
}

/** The tombstone's revision as PostgreSQL knows it. */
export const TOMBSTONE_BIGINT = '9223372036854775807';

function revision(value: number): string {
  return value >= TOMBSTONE_REVISION ? TOMBSTONE_BIGINT : integer(value);
}

function integer(value: number): string {
  if (!Number.isSafeInteger(value)) throw new RangeError(`${value} is not a whole number.`);
  return String(value);
}

/** `standard_conforming_strings` is on, so that only the quote itself needs care; NUL was refused on arrival. */
function literal(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}
