import { LRUCache } from 'lru-cache';
import { API_KEYS, type ApiKeyIssued, WORKSPACE } from '#contracts/events/workspace/workspace.ts';
import { type Actor, categoryOf, type Event, type RecordedEvent } from '#contracts/events/event.ts';
import { LEASE_PASSED_MS } from '../access/key-lease-cache.ts';
import { foldIssuedKey, foldStream } from '../access/access-tables.ts';
import { pause } from '#platform/clock.ts';
import type { Decider, EventStore, KnownState, Recorded } from '#platform/event-store/event-store.ts';
import type { Database } from '#platform/postgres/pool.ts';
import type { ProjectionWait } from './projection-wait.ts';
import { inSpan } from '#platform/telemetry/tracing.ts';
import { createKeyedMutex, type KeyedMutex } from '#platform/concurrency/keyed-mutex.ts';

const SCHEMA_VERSION = 1;
/** Events that take something away: every process must have forgotten the old state before we answer. */
const NARROWING: ReadonlySet<string> = new Set([
  'ApiKeyRevoked',
  'MemberErased',
  'MemberRoleChanged',
  'PlanChanged',
]);

/** Streams that requests are checked by. */
const CHECKED_BY: ReadonlySet<string> = new Set([API_KEYS, WORKSPACE]);

/** Streams remembered by one process; the largest hold five thousand brands. */
const REMEMBERED_MAX = 200;
const remembered = new WeakMap<EventStore, LRUCache<string, KnownState<unknown>>>();

const statesOf = (eventStore: EventStore): LRUCache<string, KnownState<unknown>> => {
  const known = remembered.get(eventStore) ?? new LRUCache({ max: REMEMBERED_MAX });
  remembered.set(eventStore, known);
  return known;
};

/**
 * Decisions on one stream take turns within a process, which then competes with other processes only. Expected
 * revisions would keep them right without, but of two hundred that collide each time all but one read, decide and
 * append in vain.
 */
const turnsOf = new WeakMap<EventStore, KeyedMutex>();
const inTurn = <T>(eventStore: EventStore, stream: string, work: () => Promise<T>): Promise<T> => {
  let turns = turnsOf.get(eventStore);
  if (!turns) {
    turns = createKeyedMutex();
    turnsOf.set(eventStore, turns);
  }
  return turns(stream, work);
};

export type CommandDependencies = {
  readonly eventStore: EventStore;
  readonly pool: Database;
  readonly projectionWait: ProjectionWait;
};

/** Who asks for what, in which request. Event ids follow from `commandId`. */
export type WorkspaceCommand<State, F extends Event> = {
  readonly workspaceId: string;
  readonly stream: string;
  readonly decider: Decider<State, F>;
  readonly decision: (state: State) => readonly F[];
  readonly actor: Actor;
  readonly requestId: string;
  readonly commandId: string;
  /** Projections that show the outcome. */
  readonly shownIn: readonly string[];
  /**
   * The state is remembered for the next command on the stream, which then appends without reading. Not for a
   * command that may have come before: the store takes a repetition for the same append by its ids, whatever the
   * events say, so what the first attempt recorded has to be read.
   */
  readonly remembersState?: boolean;
};

export type CommandOutcome<State, F extends Event> = {
  readonly state: State;
  readonly events: readonly F[];
  /** Where the outcome stands in the log; `null` when the server does not say. */
  readonly position: bigint | null;
};

/** Also when nothing was recorded: whoever recorded it may have died before folding it. */
const foldAccess = async (
  { pool, eventStore }: CommandDependencies,
  stream: string,
  events: readonly Event[],
  revision: bigint,
): Promise<void> => {
  const [event] = events;
  const isFolded =
    events.length === 1 &&
    event?.type === 'ApiKeyIssued' &&
    (await foldIssuedKey(pool, stream, event as ApiKeyIssued, revision));
  if (!isFolded) await foldStream(pool, eventStore, stream);
  if (events.length === 0 || events.some(({ type }) => NARROWING.has(type))) await pause(LEASE_PASSED_MS);
};

/**
 * Runs a workspace's command to the point where its outcome can be relied on: appended, folded into the access
 * tables where it concerns keys, forgotten by every cache where it takes something away, and shown by the
 * projections (or not in time, which is no error).
 */
export const runWorkspaceCommand = async <State, F extends Event>(
  dependencies: CommandDependencies,
  command: WorkspaceCommand<State, F>,
): Promise<CommandOutcome<State, F>> => {
  const { stream, decider, decision, workspaceId, actor, requestId, commandId, shownIn } = command;
  const metadata = {
    $correlationId: requestId,
    $causationId: commandId,
    request_id: requestId,
    actor,
    workspace_id: workspaceId,
    schema_version: SCHEMA_VERSION,
  };
  const { state, events, position, revision } = await inTurn(dependencies.eventStore, stream, async () => {
    const states = command.remembersState ? statesOf(dependencies.eventStore) : undefined;
    const known = states?.get(stream) as KnownState<State> | undefined;
    let lastSeen: Recorded = known ?? { revision: -1n, position: 0n };
    const watched: Decider<State, F> = {
      initial: decider.initial,
      evolve: (folded, event) => {
        // While the stream is loaded, events come as recorded; those just decided have no position yet.
        const { revision: place, position: at } = event as Partial<RecordedEvent>;
        if (place !== undefined && at !== undefined) lastSeen = { revision: place, position: at };
        return decider.evolve(folded, event);
      },
    };
    const asked = { stream, decider: watched, decision, metadata, commandId, known };
    const decided = await dependencies.eventStore.decide(asked);
    // Already so: what made it so may still be on its way to the projections.
    const stands = decided.recorded ?? lastSeen;
    // Another command may have come further meanwhile.
    if ((states?.get(stream)?.revision ?? -1n) < stands.revision) {
      states?.set(stream, { state: decided.state, ...stands });
    }
    return { state: decided.state, events: decided.events, ...stands };
  });
  await Promise.all([
    CHECKED_BY.has(categoryOf(stream)) && foldAccess(dependencies, stream, events, revision),
    position > 0n &&
      inSpan('wait for read models', { attributes: { projections: shownIn.join() } }, () =>
        dependencies.projectionWait.wait(shownIn, position),
      ),
  ]);
  return { state, events, position: position > 0n ? position : null };
};
