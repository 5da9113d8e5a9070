import { TRACKING, type TrackingFact } from '#contracts/events/workspace/workspace.ts';
import { projection } from '../define-projection.ts';

/** Which workspace follows which brand, for the tracked-brands reads and the radar. */
export const tracking = projection<TrackingFact>({
  name: 'tracking',
  version: 1,
  prefixes: [`${TRACKING}-`],
  schema: new URL('./schema.sql', import.meta.url),
  statements: {},
  project: (fact) => {
    const key = { workspace_id: fact.data.workspace_id, brand_id: fact.data.brand_id };
    switch (fact.type) {
      case 'BrandTracked':
        return [
          {
            kind: 'upsert',
            table: 'tracked_brand',
            key,
            set: { cadence: fact.data.cadence, tracked_at: fact.data.tracked_at },
          },
        ];
      case 'TrackingCadenceChanged':
        return [{ kind: 'upsert', table: 'tracked_brand', key, set: { cadence: fact.data.cadence } }];
      case 'BrandUntracked':
        return [{ kind: 'delete', table: 'tracked_brand', key }];
    }
  },
});
