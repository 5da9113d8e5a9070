import type { OperatorRecord } from '#contracts/observations/operator-record.ts';
import { companyKey, imprintRecord } from '#domain/shapes/imprint.ts';
import type { Database } from '#platform/postgres/pool.ts';

/** Maximum sites of one company that are named. */
const SITES_MAX = 1_000;

/** Companies that sites name as their operators. */
export type ImprintStore = {
  /**
   * Stores the company that a site names, and returns the records of that company and of the one that the site named before.
   * Stored again for the same time, it returns both again, so that a restart loses none.
   */
  record(site: {
    readonly domain: string;
    readonly company: string;
    readonly observedAt: Date;
  }): Promise<readonly OperatorRecord[]>;
};

type Row = { readonly company: string; readonly left_company: string | null };
type SiteRow = { readonly domain: string; readonly observed_at: Date };

export const createImprintStore = (database: Database): ImprintStore => {
  const sitesOf = async (company: string): Promise<readonly SiteRow[]> => {
    const { rows } = await database.query<SiteRow>(
      `select domain, observed_at from collecting.imprint where company_key = $1 order by domain limit ${SITES_MAX}`,
      [companyKey(company)],
    );
    return rows;
  };
  return {
    record: async ({ domain, company, observedAt }) => {
      const { rows } = await database.query<Row>(
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
      return Promise.all(
        named.map(async (name) => {
          const sites = await sitesOf(name);
          // An older record than the last one would be ignored, and this site with it.
          const newestMs = Math.max(observedAt.getTime(), ...sites.map((site) => site.observed_at.getTime()));
          return imprintRecord(name, sites, new Date(newestMs).toISOString());
        }),
      );
    },
  };
};
