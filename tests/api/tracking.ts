import type { FastifyInstance } from 'fastify';
import type { RecordedFact } from '#contracts/events/event.ts';
import { type TrackingFact, trackingStream } from '#contracts/events/workspace/workspace.ts';
import { on } from '#tests/dsl/api.ts';
import type { ApiStack, Key } from './stack.ts';

/** How tests track and untrack brands through an API server. */
export const pathOf = (key: Key): string => `/v1/workspaces/${key.workspaceId}/tracked-brands`;

export const trackingThrough = (app: FastifyInstance) => ({
  track: (key: Key, brandId: string, cadence?: string, headers: Record<string, string> = {}) =>
    on(app).post(pathOf(key), { key, headers, body: { brand_id: brandId, ...(cadence ? { cadence } : {}) } }),
  untrack: (key: Key, brandId: string, body: unknown = {}) =>
    on(app).delete(`${pathOf(key)}/${brandId}`, { key, body }),
});

/** What was recorded of a workspace's tracking. */
export const recordedOf = async (
  stack: ApiStack,
  key: Key,
): Promise<readonly RecordedFact<TrackingFact>[]> => {
  const facts: RecordedFact<TrackingFact>[] = [];
  for await (const fact of stack.eventStore.read<TrackingFact>(trackingStream(key.workspaceId)))
    facts.push(fact);
  return facts;
};

export const factsOf = async (stack: ApiStack, key: Key): Promise<readonly string[]> =>
  (await recordedOf(stack, key)).map(({ type }) => type);
