import type { PageProposal } from '#domain/collecting/propose-pages.ts';
import type { Database } from '#platform/postgres/pool.ts';

export type ProposalState = 'linked' | 'quarantined';
export type StoredProposal = Omit<PageProposal, 'isCertain'> & { readonly state: ProposalState };

type Row = {
  readonly social_page_id: string;
  readonly page_name: string | null;
  readonly ads: number;
  readonly state: ProposalState;
};

export const saveProposals = async (
  database: Database,
  domain: string,
  proposals: readonly PageProposal[],
  now: Date,
): Promise<void> => {
  await database.query(
    `insert into collecting.page_proposal as p (domain, social_page_id, page_name, ads, state, proposed_at)
     select $1, social_page_id, page_name, ads, state, $6
     from unnest($2::text[], $3::text[], $4::int[], $5::text[]) as i (social_page_id, page_name, ads, state)
     on conflict (domain, social_page_id) do update set page_name = coalesce(excluded.page_name, p.page_name),
       ads = excluded.ads, state = case when p.state = 'linked' then p.state else excluded.state end,
       proposed_at = excluded.proposed_at`,
    [
      domain,
      proposals.map(({ pageId }) => pageId),
      proposals.map(({ pageName }) => pageName),
      proposals.map(({ ads }) => ads),
      proposals.map(({ isCertain }) => (isCertain ? 'linked' : 'quarantined')),
      now,
    ],
  );
};

export const listProposals = async (
  database: Database,
  domain: string,
): Promise<readonly StoredProposal[]> => {
  const { rows } = await database.query<Row>(
    `select social_page_id, page_name, ads, state from collecting.page_proposal where domain = $1
     order by ads desc, social_page_id`,
    [domain],
  );
  return rows.map(({ social_page_id: pageId, page_name: pageName, ads, state }) => ({
    pageId,
    pageName,
    ads,
    state,
  }));
};

export const saveLinked = async (
  database: Database,
  domain: string,
  pageId: string,
  now: Date,
): Promise<void> => {
  await database.query(
    `insert into collecting.page_proposal (domain, social_page_id, ads, state, proposed_at) values ($1, $2, 0, 'linked', $3)
     on conflict (domain, social_page_id) do update set state = 'linked'`,
    [domain, pageId, now],
  );
};
