import { TRACKING, type TrackingEvent } from '#contracts/events/workspace/workspace.ts';
import { projection } from '../define-projection.ts';

export const tracking = projection<TrackingEvent>({
  name: 'tracking',
  version: 1,
  prefixes: [`${TRACKING}-`],
  schema: new URL('./schema.sql', import.meta.url),
  statements: {},
  project: (event) => {
    const key = { workspace_id: event.data.workspace_id, brand_id: event.data.brand_id };
    switch (event.type) {
      case 'BrandTracked':
        return [
          {
            kind: 'upsert',
            table: 'tracked_brand',
            key,
            set: { cadence: event.data.cadence, tracked_at: event.data.tracked_at },
          },
        ];
      case 'TrackingCadenceChanged':
        return [{ kind: 'upsert', table: 'tracked_brand', key, set: { cadence: event.data.cadence } }];
      case 'BrandUntracked':
        return [{ kind: 'delete', table: 'tracked_brand', key }];
    }
  },
});
