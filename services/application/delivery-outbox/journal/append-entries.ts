import type { AlertDeliveryEvent } from '#contracts/events/workspace/alert-delivery.ts';
import { derivedId } from '#domain/ids.ts';
import type { EventStore } from '#platform/event-store/event-store.ts';
import { eventMetadata, serviceActor } from '../../commands/event-metadata.ts';
import { handleCommand, UNBOUNDED_CONFLICTS } from '../../commands/handle-command.ts';
import { type Entry, eventIdOf, eventOf } from './entries.ts';

class UnusableEntry extends Error {
  constructor(cause: unknown) {
    super((cause as Error).message, { cause });
    this.name = 'UnusableEntry';
  }
}

const requireEvent = (entry: Entry): AlertDeliveryEvent => {
  try {
    const event: AlertDeliveryEvent | undefined = eventOf(entry);
    if (event === undefined) throw new TypeError(`There is no event of the type ${entry.type as string}.`);
    return event;
  } catch (error) {
    throw new UnusableEntry(error);
  }
};

/**
 * Another process may have appended the same, so a conflict appends only what is missing. Returns the revision
 * afterwards.
 */
export const appendEntries = async (
  eventStore: EventStore,
  stream: string,
  storedRevision: bigint,
  entries: readonly Entry[],
): Promise<bigint> => {
  let revision = storedRevision;
  let missing = entries;
  const first = entries[0];
  if (!first) return revision;
  const metadata = eventMetadata({
    actor: serviceActor('delivery'),
    correlationId: first.alert_id,
    causationId: first.delivery_id,
    requestId: derivedId('delivery facts', `${first.alert_id}|${first.seq}`),
    workspaceId: first.workspace_id,
  });
  await handleCommand<readonly Entry[], AlertDeliveryEvent>({
    store: {
      load: async (conflicts) => {
        if (conflicts === 0) return missing;
        const existingIds = new Set<string>();
        const before = revision;
        for await (const event of eventStore.read(stream, revision)) {
          existingIds.add(event.id);
          revision = event.revision;
        }
        // A conflict without newer events: the stream was created again, so the stored revision is invalid.
        if (revision === before) revision = -1n;
        missing = missing.filter((entry) => !existingIds.has(eventIdOf(entry)));
        return missing;
      },
      append: async (events) => {
        if (events.length === 0) return;
        const ids = new Map(
          events.map((event, index) => [event as object, eventIdOf(missing[index] ?? first)]),
        );
        ({ revision } = await eventStore.append(
          stream,
          revision,
          events,
          metadata,
          (event) => ids.get(event) ?? '',
        ));
      },
      commit: async () => null,
    },
    decide: (entriesToAppend) => entriesToAppend.map(requireEvent),
    conflicts: UNBOUNDED_CONFLICTS,
  });
  return revision;
};

/** gRPC status of a request that the server refuses for its content. */
const GRPC_INVALID_ARGUMENT = 3;
const REFUSED_TYPES: ReadonlySet<unknown> = new Set(['maximum-append-size-exceeded', 'stream-deleted']);

/**
 * Repetition would fail again. Errors that code throws, such as for an unreadable answer, say nothing about the entry.
 */
export const isRefusal = (error: unknown): boolean => {
  if (error instanceof UnusableEntry) return true;
  const { type, code } = (error ?? {}) as { readonly type?: unknown; readonly code?: unknown };
  return REFUSED_TYPES.has(type) || code === GRPC_INVALID_ARGUMENT;
};
