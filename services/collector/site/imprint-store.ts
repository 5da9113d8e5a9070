import type { OperatorRecord } from '#contracts/observations/operator-record.ts';
import { companyKey, imprintRecord } from '#domain/shapes/imprint.ts';
import { type Database, inTransaction, type Transaction } from '#platform/postgres/pool.ts';

/** Maximum sites of one company that are named. */
const SITES_MAX = 1_000;

export type ImprintStore = {
  /**
   * Returns new records of the site's company and of its former one. A changed record has a later time, so that records
   * count in any order of arrival. A repetition returns equal records.
   */
  record(site: {
    readonly domain: string;
    readonly company: string;
    readonly observedAt: Date;
  }): Promise<readonly OperatorRecord[]>;
};

type Row = { readonly company: string; readonly left_company: string | null };
type SiteRow = { readonly domain: string; readonly observed_at: Date };
type RecordRow = { readonly domains: readonly string[]; readonly recorded_at: Date | null };

/** The site list is read under this lock, so a later record has every site of an earlier one. */
const lockRecord = async (client: Transaction, key: string): Promise<RecordRow> => {
  const { rows } = await client.query<RecordRow>(
    `insert into collecting.imprint_record as r (company_key) values ($1)
     on conflict (company_key) do update set company_key = excluded.company_key returning domains, recorded_at`,
    [key],
  );
  return rows[0] as RecordRow;
};

const sitesOf = async (client: Transaction, key: string): Promise<readonly SiteRow[]> => {
  const { rows } = await client.query<SiteRow>(
    `select domain, observed_at from collecting.imprint where company_key = $1 order by domain limit ${SITES_MAX}`,
    [key],
  );
  return rows;
};

/** Dates the record not before any of its sites, because ingest ignores an older record. */
const nextRecord = async (
  client: Transaction,
  company: string,
  observedAt: Date,
): Promise<OperatorRecord> => {
  const key = companyKey(company);
  const last = await lockRecord(client, key);
  const sites = await sitesOf(client, key);
  const domains = sites.map(({ domain }) => domain);
  const hasChanged = domains.join() !== last.domains.join();
  const lastMs = last.recorded_at === null ? 0 : last.recorded_at.getTime() + (hasChanged ? 1 : 0);
  const seenMs = sites.map(({ observed_at }) => observed_at.getTime());
  const recordedAt = new Date(Math.max(observedAt.getTime(), lastMs, ...seenMs));
  await client.query(
    'update collecting.imprint_record set domains = $2, recorded_at = $3 where company_key = $1',
    [key, domains, recordedAt],
  );
  return imprintRecord(company, sites, recordedAt.toISOString());
};

export const createImprintStore = (database: Database): ImprintStore => ({
  record: ({ domain, company, observedAt }) =>
    inTransaction(database, async (client) => {
      const { rows } = await client.query<Row>(
        `insert into collecting.imprint as i (domain, company, company_key, observed_at) values ($1, $2, $3, $4)
         on conflict (domain) do update set company = excluded.company, company_key = excluded.company_key,
           observed_at = excluded.observed_at,
           left_company = case when i.company_key <> excluded.company_key then i.company else i.left_company end
         returning company, left_company`,
        [domain, company, companyKey(company), observedAt],
      );
      const named = rows.flatMap((row) => [
        row.company,
        ...(row.left_company === null ? [] : [row.left_company]),
      ]);
      // A fixed lock order, because two sites may exchange their companies at once.
      const ordered = named.toSorted((a, b) => (companyKey(a) < companyKey(b) ? -1 : 1));
      const records: OperatorRecord[] = [];
      for (const name of ordered) records.push(await nextRecord(client, name, observedAt));
      return records;
    }),
});
