import { BRAND_REQUESTS, type BrandRequestEvent } from '#contracts/events/workspace/brand-request.ts';
import { type Change, projection, type Row } from '../define-projection.ts';

export const brandRequests = projection<BrandRequestEvent>({
  name: 'brand-requests',
  version: 1,
  prefixes: [`${BRAND_REQUESTS}-`],
  schema: new URL('./schema.sql', import.meta.url),
  statements: {},
  project: (event) => {
    const { workspace_id, request_id } = event.data;
    const update = (set: Row): readonly Change[] => [
      { kind: 'update', table: 'request', key: { workspace_id, request_id }, set },
    ];
    switch (event.type) {
      case 'BrandRequested': {
        const tracking = event.data.track ? 'waiting' : 'not_asked';
        return [{ kind: 'insert', table: 'request', row: { ...event.data, status: 'requested', tracking } }];
      }
      case 'BrandRequestAccepted':
        return update({ status: 'collecting', reason: null, decided_at: event.data.accepted_at });
      case 'BrandRequestRefused': {
        const { reason, refused_at } = event.data;
        return update({ status: 'refused', reason, decided_at: refused_at });
      }
      case 'BrandRequestFulfilled': {
        const { slug, tracking, fulfilled_at } = event.data;
        return update({ status: 'ready', slug, tracking, ready_at: fulfilled_at });
      }
    }
  },
});
