import { randomUUID } from 'node:crypto';
import { promisify } from 'node:util';
import { gunzip, gzip } from 'node:zlib';
import type { Validators } from '#platform/http-client/polite-client.ts';
import { type Clock } from '#platform/clock.ts';
import { type Database, inTransaction } from '#platform/postgres/pool.ts';
import { type Claimed, extendLease } from './target-store.ts';

const compress = promisify(gzip);
const decompress = promisify(gunzip);

export type SpoolPage = { readonly page: number; readonly text: string; readonly validators: Validators };

/** Each commit throws `RowLeaseLost` without the lease. */
export type OpenBatch<Cursor> = {
  readonly batchId: string;
  readonly startedAt: Date;
  readonly failures: number;
  /** `null` at the beginning of the scan. */
  readonly cursor: Cursor | null;
  /** Commits the cursor together with the page that was read. */
  commit(cursor: Cursor, page: SpoolPage | null): Promise<void>;
  /** Discards all pages and continues at `cursor`. */
  restart(cursor: Cursor): Promise<void>;
  pages(): Promise<readonly SpoolPage[]>;
  /** Page of the batch that was published before; `null` without one. */
  previousPage(page: number): Promise<SpoolPage | null>;
};

type SpoolRow = {
  readonly page: number;
  readonly body: Buffer;
  readonly etag: string | null;
  readonly last_modified: string | null;
};

const pageOf = async ({ page, body, etag, last_modified: lastModified }: SpoolRow): Promise<SpoolPage> => ({
  page,
  text: (await decompress(body)).toString('utf8'),
  validators: { etag, lastModified },
});

const SPOOL_PAGES = 'select page, body, etag, last_modified from collecting.spool where batch_id = $1';

export const readLastPages = async (
  database: Database,
  source: string,
  domain: string,
): Promise<readonly SpoolPage[]> => {
  const { rows } = await database.query<SpoolRow>(
    `${SPOOL_PAGES.replace('$1', '(select last_batch_id from collecting.target where source = $1 and domain = $2)')} order by page`,
    [source, domain],
  );
  return Promise.all(rows.map(pageOf));
};

/** Opens the batch that another owner left, or a new one. */
export const openBatch = async <Cursor extends object>(
  database: Database,
  claimed: Claimed,
  { clock, leaseNow }: { readonly clock: Clock; readonly leaseNow: () => Date | null },
): Promise<OpenBatch<Cursor>> => {
  const { source, domain, lastBatchId } = claimed;
  const { rows } = await database.query<{
    batch_id: string;
    started_at: Date;
    failures: number;
    cursor: Partial<Cursor>;
  }>(
    `insert into collecting.batch as b (batch_id, source, domain, started_at) values ($1, $2, $3, $4)
     on conflict (source, domain) do update set failures = b.failures
     returning batch_id, started_at, failures, cursor`,
    [randomUUID(), source, domain, clock.now()],
  );
  const [row] = rows;
  if (row === undefined) throw new Error(`No batch was opened for ${domain}.`);
  const { batch_id: batchId, started_at: startedAt, failures, cursor } = row;

  const write = (next: Cursor, page: SpoolPage | null, discards: boolean): Promise<void> =>
    inTransaction(database, async (client) => {
      await extendLease(client, claimed, leaseNow());
      if (discards) await client.query('delete from collecting.spool where batch_id = $1', [batchId]);
      if (page !== null) {
        await client.query(
          `insert into collecting.spool (batch_id, page, body, etag, last_modified) values ($1, $2, $3, $4, $5)`,
          [
            batchId,
            page.page,
            await compress(page.text),
            page.validators.etag?.slice(0, 1_000) ?? null,
            page.validators.lastModified?.slice(0, 100) ?? null,
          ],
        );
      }
      await client.query('update collecting.batch set cursor = $2, failures = 0 where batch_id = $1', [
        batchId,
        JSON.stringify(next),
      ]);
    });

  return {
    batchId,
    startedAt,
    failures,
    cursor: Object.keys(cursor).length === 0 ? null : (cursor as Cursor),
    commit: (next, page) => write(next, page, false),
    restart: (next) => write(next, null, true),
    pages: async () => {
      const spooled = await database.query<SpoolRow>(`${SPOOL_PAGES} order by page`, [batchId]);
      return Promise.all(spooled.rows.map(pageOf));
    },
    previousPage: async (page) => {
      if (lastBatchId === null) return null;
      const spooled = await database.query<SpoolRow>(`${SPOOL_PAGES} and page = $2`, [lastBatchId, page]);
      return spooled.rows[0] === undefined ? null : pageOf(spooled.rows[0]);
    },
  };
};
