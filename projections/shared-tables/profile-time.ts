import type { BrandEvent } from '#contracts/events/corpus/brand.ts';
import type { Change, Statement } from '../define-projection.ts';

/** The newest profile wins in any order of arrival, in the columns `brand_id, profiled_at` of a table `brand`. */
export const recordProfileTime: Statement = {
  columns: { brand_id: 'uuid', at: 'timestamptz' },
  touches: ['brand'],
  sql: `
    insert into brand as b (brand_id, profiled_at) select brand_id, max(at) from :input i group by brand_id
    on conflict (brand_id) do update set profiled_at = greatest(b.profiled_at, excluded.profiled_at)`,
};

/** Run by a statement named `profile_time`. */
export const profileTime = ({ data }: BrandEvent): Change => ({
  kind: 'run',
  statement: 'profile_time',
  row: { brand_id: data.brand_id, at: data.observed_at },
});
