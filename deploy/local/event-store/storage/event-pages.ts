import type pg from 'pg';
import { copyOut } from './copy-out.ts';
import type { StoredEvent } from '../model.ts';
import { TOMBSTONE_REVISION } from '../wire/protobuf.ts';

/** COPY takes no parameters, so numbers are checked and names quoted here. */

/**
 * Bounds the memory of a slow reader. PostgreSQL ends the page, because rows dropped here would cost as much as kept
 * ones.
 */
const MAX_PAGE_BYTES = 2 * 1024 * 1024;

export interface Page {
  readonly events: readonly StoredEvent[];
  /** False when more events may follow in this direction. */
  readonly isLast: boolean;
}

export class Pages {
  readonly #pool: pg.Pool;

  constructor(pool: pg.Pool) {
    this.#pool = pool;
  }

  allForwards(after: number, limit: number): Promise<Page> {
    return this.#copy(`position > ${integer(after)}`, 'position', limit);
  }

  /** Newest first. */
  allBackwards(before: number, limit: number): Promise<Page> {
    return this.#copy(`position < ${integer(before)}`, 'position desc', limit);
  }

  /** Both revisions inclusive, in the requested order. */
  ofStream(
    stream: string,
    range: {
      readonly lowest: number;
      readonly highest: number;
      readonly backwards: boolean;
      readonly limit: number;
    },
  ): Promise<Page> {
    return this.#copy(
      `stream = ${literal(stream)} and revision between ${revision(range.lowest)} and ${revision(range.highest)}`,
      range.backwards ? 'revision desc' : 'revision',
      range.limit,
    );
  }

  async #copy(condition: string, order: string, limit: number): Promise<Page> {
    const client = await this.#pool.connect();
    try {
      const events = await copyOut(client, pageQuery(condition, order, limit), parseRow);
      client.release();
      const bytes = events.reduce((sum, { data, metadata }) => sum + data.length + metadata.length, 0);
      return { events, isLast: events.length < limit && bytes < MAX_PAGE_BYTES };
    } catch (error) {
      client.release(true);
      throw error;
    }
  }
}

/** Ends at the event that reaches the maximum of bytes. The lengths do not read the payloads. */
const pageQuery = (condition: string, order: string, limit: number): string => `
  select position, revision, created, is_json, id, stream, type, metadata, data from (
    select *, sum(octet_length(data) + octet_length(metadata))
      over (order by ${order} rows between unbounded preceding and 1 preceding) as bytes_before
    from (select * from event_store.event where ${condition} order by ${order} limit ${integer(limit)}) page
  ) sized where coalesce(bytes_before, 0) < ${MAX_PAGE_BYTES} order by ${order}`;

/** PostgreSQL counts microseconds from the year 2000. */
export const POSTGRES_EPOCH_MS = 946_684_800_000;

/** A row is its number of columns, then each column's length and bytes. */
function parseRow(bytes: Buffer): StoredEvent {
  const row = Buffer.from(bytes);
  const streamAt = 67;
  const streamEnd = streamAt + row.readInt32BE(streamAt - 4);
  const typeAt = streamEnd + 4;
  const typeEnd = typeAt + row.readInt32BE(streamEnd);
  const metadataAt = typeEnd + 4;
  const metadataEnd = metadataAt + row.readInt32BE(typeEnd);
  const dataAt = metadataEnd + 4;
  return {
    position: readInt64(row, 6),
    revision: readInt64(row, 18),
    createdMs: POSTGRES_EPOCH_MS + Math.round(readInt64(row, 30) / 1000),
    isJson: row[42] === 1,
    id: row.subarray(47, 63),
    stream: row.subarray(streamAt, streamEnd),
    type: row.subarray(typeAt, typeEnd),
    metadata: row.subarray(metadataAt, metadataEnd),
    data: row.subarray(dataAt, dataAt + row.readInt32BE(metadataEnd)),
  };
}

/** 2^63 - 1 becomes TOMBSTONE_REVISION. */
function readInt64(page: Buffer, offset: number): number {
  const value = page.readInt32BE(offset) * 2 ** 32 + page.readUInt32BE(offset + 4);
  return value > Number.MAX_SAFE_INTEGER ? TOMBSTONE_REVISION : value;
}

export const TOMBSTONE_BIGINT = '9223372036854775807';

function revision(value: number): string {
  return value >= TOMBSTONE_REVISION ? TOMBSTONE_BIGINT : integer(value);
}

function integer(value: number): string {
  if (!Number.isSafeInteger(value)) throw new RangeError(`${value} is not a whole number.`);
  return String(value);
}

/** `standard_conforming_strings` is on, so only the quote needs escaping; NUL was refused on arrival. */
function literal(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}
