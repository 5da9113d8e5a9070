import { openPool, openReadDatabase } from '#platform/postgres/pool.ts';
import { ads } from '#projections/ads/project.ts';
import { brands } from '#projections/brands/project.ts';
import { dailyActivity } from '#projections/daily-activity/project.ts';
import type { Projection } from '#projections/define-projection.ts';
import { applyBatch, type Target } from '#services/projector/apply/apply-batch.ts';
import { PoisonEvent } from '#services/projector/apply/failures.ts';
import { createProjectorTables } from '#services/projector/apply/checkpoints.ts';
import type { RecordedEvent } from '#contracts/events/event.ts';
import { openTarget } from '#tests/dsl/projections.ts';
import { openIntakeStack } from '#tests/ingest/fixtures/intake-stack.ts';
import { createStandings } from './ad-standings.ts';
import { type Placement, place } from './placement.ts';
import { readFigures } from './figures.ts';
import type { Figures, World } from '../world.ts';

/**
 * The service under comparison: the real intake, with its own database and event store, and the read models that hold
 * the compared figures. Any number of worlds go through one instance.
 */

const PROJECTIONS: readonly Projection[] = [ads, brands, dailyActivity];
const PREFIXES = ['adLibrary-', 'brand-', 'socialPage-'];
/** Worlds that are submitted at the same time. The observations of one world stay in their order. */
const WORLDS_AT_ONCE = 16;
/** Maximum events per batch of the projections, as the projector takes when it catches up. */
const BATCH_EVENTS = 5_000;

/** Figures of one world, or the error that kept it from being recorded and projected. */
export type Outcome =
  | { readonly figures: Figures; readonly error: null }
  | { readonly figures: null; readonly error: string };

export type ServiceUnderComparison = AsyncDisposable & {
  /** Submits the observations of each world in their order, projects the log to its end, and reads the figures. */
  run(worlds: readonly World[]): Promise<readonly Outcome[]>;
};

/** Runs a task for each item, a few at the same time; results are in the order of the items. */
const inParallel = async <T, R>(
  items: readonly T[],
  task: (item: T, index: number) => Promise<R>,
): Promise<R[]> => {
  const results: R[] = [];
  const rest = items.entries();
  const work = async (): Promise<void> => {
    for (const [index, item] of rest) results[index] = await task(item, index);
  };
  await Promise.all(Array.from({ length: WORLDS_AT_ONCE }, work));
  return results;
};

export const openService = async (): Promise<ServiceUnderComparison> => {
  const resources = new AsyncDisposableStack();
  const stack = resources.use(await openIntakeStack());
  const { intake, eventStore, databaseUrl } = stack;
  const database = openPool(databaseUrl, PROJECTIONS.length);
  resources.defer(() => database.end());
  const db = resources.use(openReadDatabase(databaseUrl));
  await createProjectorTables(database);
  const targets: Target[] = [];
  for (const projection of PROJECTIONS) targets.push(await openTarget(database, projection));
  const follower = resources.use(
    eventStore.follow({ after: null, prefixes: PREFIXES, bufferItems: BATCH_EVENTS }),
  );
  const standings = createStandings();
  let position = 0n;
  let worldsPlaced = 0;
  /** Errors by the stream that a projection could not apply. Later events of the stream are left out. */
  const failedStreams = new Map<string, string>();

  const apply = async (target: Target, events: readonly RecordedEvent[]): Promise<void> => {
    const rest = events.filter(
      ({ stream }) =>
        !failedStreams.has(stream) && target.projection.prefixes.some((prefix) => stream.startsWith(prefix)),
    );
    const last = rest.at(-1);
    if (!last) return;
    try {
      await applyBatch(database, target, rest, last.position);
    } catch (error) {
      if (!(error instanceof PoisonEvent)) throw error;
      failedStreams.set(error.event.stream, `${target.projection.name}: ${error.message}`);
      const { position: failedAt } = error.event;
      await apply(
        target,
        rest.filter((event) => event.position > failedAt),
      );
    }
  };

  const project = async (): Promise<void> => {
    const head = await eventStore.head();
    while (position < head) {
      const events: RecordedEvent[] = [];
      for (const item of await follower.take(BATCH_EVENTS)) {
        if (item.kind === 'event') {
          events.push(item.event);
          standings.fold(item.event);
          ({ position } = item.event);
        } else if (item.kind === 'checkpoint') ({ position } = item);
      }
      await Promise.all(targets.map((target) => apply(target, events)));
    }
  };

  const submit = async (world: World, { messagesOf }: Placement): Promise<string | null> => {
    for (const observation of world.observations) {
      for (const message of messagesOf(observation)) {
        try {
          await intake.submit(message);
        } catch (error) {
          return `${message.type}: ${(error as Error).message}`;
        }
      }
    }
    return null;
  };

  const run = async (worlds: readonly World[]): Promise<Outcome[]> => {
    const placements = worlds.map((world) => place(world, (worldsPlaced += 1)));
    const errors = await inParallel(worlds, (world, index) => submit(world, placements[index] as Placement));
    await project();
    return inParallel(worlds, async (world, index): Promise<Outcome> => {
      const placement = placements[index] as Placement;
      const streams = world.brands.flatMap((brand) => {
        const id = placement.brandIdOf(brand);
        return [`adLibrary-${id}`, `brand-${id}`];
      });
      const error = errors[index] ?? streams.map((stream) => failedStreams.get(stream)).find(Boolean);
      if (error) return { figures: null, error };
      return { figures: await readFigures({ db, standings }, world, placement), error: null };
    });
  };
  return { run, [Symbol.asyncDispose]: () => resources.disposeAsync() };
};
