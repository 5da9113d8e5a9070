import type { AdLibraryFact } from '#contracts/events/ad-library.ts';
import type { TrackingFact } from '#contracts/events/workspace.ts';
import { projection } from '#projections/projection.ts';

/** How recent a brand's figures are, and when they are due again. */
export const freshness = projection<AdLibraryFact | TrackingFact>({
  name: 'freshness',
  version: 1,
  prefixes: ['adLibrary-', 'tracking-'],
  schema: new URL('./schema.sql', import.meta.url),
  statements: {
    observe: {
      columns: { brand_id: 'uuid', scanned_at: 'timestamptz', reliable_at: 'timestamptz' },
      touches: ['brand'],
      sql: `
        insert into brand as b (brand_id, scanned_at, reliable_at)
        select brand_id, max(scanned_at), max(reliable_at) from :input i group by brand_id
        on conflict (brand_id) do update set scanned_at = greatest(b.scanned_at, excluded.scanned_at),
          reliable_at = greatest(b.reliable_at, excluded.reliable_at)`,
    },
  },
  project: (fact) => {
    switch (fact.type) {
      case 'ScanRecorded': {
        const { brand_id, observed_at, reliable } = fact.data;
        return [
          {
            kind: 'run',
            statement: 'observe',
            row: { brand_id, scanned_at: observed_at, reliable_at: reliable ? observed_at : null },
          },
        ];
      }
      case 'BrandTracked': {
        const { brand_id, workspace_id, cadence, tracked_at } = fact.data;
        return [
          { kind: 'upsert', table: 'tracker', key: { brand_id, workspace_id }, set: { cadence, tracked_at } },
        ];
      }
      case 'TrackingCadenceChanged': {
        const { brand_id, workspace_id, cadence } = fact.data;
        return [{ kind: 'update', table: 'tracker', key: { brand_id, workspace_id }, set: { cadence } }];
      }
      case 'BrandUntracked': {
        const { brand_id, workspace_id } = fact.data;
        return [{ kind: 'delete', table: 'tracker', key: { brand_id, workspace_id } }];
      }
      default:
        return [];
    }
  },
});
