import { z } from 'zod';
import { trackingStream } from '#contracts/events/workspace/workspace.ts';
import { brandIdOf, derivedId } from '#domain/ids.ts';
import { trackBrand, tracking } from '#domain/workspace/tracked-brands.ts';
import { pause } from '#platform/clock.ts';
import { openEventStore } from '#platform/event-store/event-store.ts';
import { waitUntilReady } from '../stack/wait-until-ready.ts';
import { callApi, type DemoWorkspace, PLAN } from './workspace.ts';

/** The event store client may hang after a read that ended early. */
const DISPOSE_LIMIT_MS = 500;
const SHOWN_LIMIT_MS = 60_000;

const Tracked = z.object({ data: z.array(z.unknown()) });

/**
 * The API tracks from now on only, and a brief covers only tracked weeks, so a new demo would have none. Tracking a
 * brand again changes nothing.
 */
export const trackBrandsSince = async (
  eventStoreUrl: string,
  apiUrl: string,
  workspace: DemoWorkspace,
  domains: readonly string[],
  since: string,
  signal: AbortSignal,
): Promise<void> => {
  const { workspace_id } = workspace;
  const commandId = derivedId('demo tracking', workspace_id);
  const stream = trackingStream(workspace_id);
  const eventStore = openEventStore(eventStoreUrl);
  try {
    const { state, revision } = await eventStore.load(stream, tracking);
    const events = domains.flatMap((domain, index) => {
      const cadence = index % 4 === 3 ? 'weekly' : 'daily';
      return trackBrand({ workspace_id, brand_id: brandIdOf(domain), cadence, plan: PLAN, at: since })(state);
    });
    const metadata = {
      $correlationId: commandId,
      $causationId: commandId,
      request_id: commandId,
      actor: { kind: 'service', id: 'demo' },
      workspace_id,
    } as const;
    if (events.length > 0) await eventStore.append(stream, revision, events, metadata, commandId);
  } finally {
    await Promise.race([eventStore[Symbol.asyncDispose](), pause(DISPOSE_LIMIT_MS)]);
  }
  await waitUntilReady('The list of tracked brands', SHOWN_LIMIT_MS, null, signal, async () => {
    const { data } = Tracked.parse(await callApi(apiUrl, workspace, 'GET', 'tracked-brands?limit=100'));
    return data.length >= domains.length;
  });
};
