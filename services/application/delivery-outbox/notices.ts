import { chunk } from 'es-toolkit/array/chunk';
import { Events } from 'nats';
import { DELIVERIES_DUE, DELIVERY_GROUP, type DeliveriesDue } from '#contracts/messages/subjects.ts';
import type { Nats } from '#platform/nats/connection.ts';
import type { QueuedDelivery } from './enqueue.ts';

/** Some dozens of bytes each. */
const ENDPOINTS_PER_MESSAGE = 1_000;

type Notifier = (queued: readonly Pick<QueuedDelivery, 'endpoint'>[]) => void;

/** Call after the commit. Neither waits nor throws: a sweep finds the deliveries of a notice that was lost. */
export const notifyDue = (
  { connection }: Pick<Nats, 'connection'>,
  queued: readonly Pick<QueuedDelivery, 'endpoint'>[],
): void => {
  if (connection.isClosed() || connection.isDraining()) return;
  const unique = [...new Set(queued.map(({ endpoint }) => endpoint))];
  for (const endpoints of chunk(unique, ENDPOINTS_PER_MESSAGE)) {
    const due: DeliveriesDue = { endpoints };
    connection.publish(DELIVERIES_DUE, JSON.stringify(due));
  }
};

/** Drops notices while NATS is away, because the client would keep them in memory. */
export const createDueNotifier = (nats: Promise<Nats>): Notifier => {
  let connected: Nats | null = null;
  const follow = async (): Promise<void> => {
    const opened = await nats;
    connected = opened;
    for await (const { type } of opened.connection.status()) {
      if (type === Events.Disconnect) connected = null;
      if (type === Events.Reconnect) connected = opened;
    }
  };
  // Rejects only when the process ends before NATS was there.
  follow().catch(() => undefined);
  return (queued) => {
    if (connected !== null && queued.length > 0) notifyDue(connected, queued);
  };
};

/** Each notice goes to one process. Calls `due` with the endpoints, until `signal` is aborted. */
export const receiveDue = async (
  { connection }: Pick<Nats, 'connection'>,
  due: (endpoints: readonly string[]) => void,
  signal: AbortSignal,
): Promise<void> => {
  const subscription = connection.subscribe(DELIVERIES_DUE, { queue: DELIVERY_GROUP });
  const stop = (): void => subscription.unsubscribe();
  if (signal.aborted) stop();
  signal.addEventListener('abort', stop, { once: true });
  for await (const message of subscription) due(readEndpoints(message.string()));
};

/** Empty for a malformed message. */
const readEndpoints = (text: string): readonly string[] => {
  try {
    const { endpoints } = JSON.parse(text) as Partial<DeliveriesDue>;
    const candidates: readonly unknown[] = Array.isArray(endpoints) ? endpoints : [];
    return candidates.filter((one): one is string => typeof one === 'string');
  } catch {
    return [];
  }
};
