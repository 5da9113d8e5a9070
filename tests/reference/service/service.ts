import { type Database } from '#platform/postgres/pool.ts';
import { openReadDatabase } from '#platform/postgres/read-database.ts';
import { ads } from '#projections/ads/project.ts';
import { brands } from '#projections/brands/project.ts';
import { categories } from '#projections/categories/project.ts';
import { dailyActivity } from '#projections/daily-activity/project.ts';
import { freshness } from '#projections/freshness/project.ts';
import { newAdvertisers } from '#projections/new-advertisers/project.ts';
import { rewriteNewAdvertisers } from '#projections/new-advertisers/rewrite.ts';
import { radar } from '#projections/radar/project.ts';
import { rankings } from '#projections/rankings/project.ts';
import { signals } from '#projections/signals/project.ts';
import { velocity } from '#projections/velocity/project.ts';
import type { Projection } from '#projections/define-projection.ts';
import { applyBatch, type Target } from '#services/projector/apply/apply-batch.ts';
import { PoisonEvent } from '#application/read-models/failures.ts';
import { createProjectorTables } from '#services/projector/apply/checkpoints.ts';
import type { RecordedEvent } from '#contracts/events/event.ts';
import { openPlannedOnce } from '#tests/dsl/planned-once.ts';
import { openTarget } from '#tests/dsl/projections.ts';
import { openIntakeServers } from '#tests/ingest/fixtures/intake-stack.ts';
import { checksums } from '#tests/stack/read-models.ts';
import { rebuildTogether } from '#tests/stack/verify-read-models.ts';
import { createStandings } from './ad-standings.ts';
import { type Apply, interruptBatches } from './interruptions.ts';
import { type Placement, place } from './placement.ts';
import { openSubmission, type Way } from './submission.ts';
import { readFigures } from './figures.ts';
import { type Figures, NEWEST_SCAN_AT, type World, type WorldObservation } from '../world.ts';

/** The real intake with its own database and event store, and the compared read models, for any number of worlds. */

const PROJECTIONS: readonly Projection[] = [
  ads,
  brands,
  categories,
  dailyActivity,
  freshness,
  newAdvertisers,
  radar,
  rankings,
  signals,
  velocity,
];
const PREFIXES = ['adLibrary-', 'brand-', 'socialPage-'];
/** The newest scan of the corpus, of a brand that no other world has. */
const NEWEST_WORLD: World = {
  brands: ['newest.example'],
  observations: [
    {
      kind: 'scan',
      id: 's1',
      at: NEWEST_SCAN_AT,
      brand: 'newest.example',
      complete: true,
      pages: [],
      countries: ['US'],
      collector: 'c1',
      ads: [],
    },
  ],
};
/** Worlds that are submitted at the same time. The observations of one world stay in their order. */
const WORLDS_AT_ONCE = 16;
/** Maximum events per batch of the projections, as the projector takes when it catches up. */
const BATCH_EVENTS = 5_000;

export type Outcome =
  | { readonly figures: Figures; readonly error: null }
  | { readonly figures: null; readonly error: string };

export type ServiceUnderComparison = AsyncDisposable & {
  /** `worlds` has the stages of each. Submits what each stage adds, projects it, and reads the figures. */
  run(worlds: readonly (readonly World[])[]): Promise<readonly (readonly Outcome[])[]>;
};

type Checksums = Readonly<Record<string, string>>;

export type OpenedService = ServiceUnderComparison & {
  rebuild(): Promise<{ readonly live: Checksums; readonly rebuilt: Checksums }>;
  interrupted(): number;
};

const inParallel = async <T, R>(
  items: readonly T[],
  atOnce: number,
  task: (item: T, index: number) => Promise<R>,
): Promise<R[]> => {
  const results: R[] = [];
  const rest = items.entries();
  const work = async (): Promise<void> => {
    for (const [index, item] of rest) results[index] = await task(item, index);
  };
  await Promise.all(Array.from({ length: atOnce }, work));
  return results;
};

/** Without this, PostgreSQL plans a fifth of the statements each time, which takes longer than running them. */
const planOnce = async (database: Database): Promise<void> => {
  await database.query(
    `do $$ begin execute format('alter database %I set plan_cache_mode = force_generic_plan', current_database()); end $$`,
  );
};

/** Opens the service. Where submissions are interrupted, the batches of projections are interrupted too. */
export const openService = async (way: Way = { kind: 'in turn' }): Promise<OpenedService> => {
  const interruptions = way.kind === 'interrupted' ? way.seed : null;
  const worldsAtOnce = interruptions === null ? WORLDS_AT_ONCE : 1;
  const resources = new AsyncDisposableStack();
  const servers = resources.use(await openIntakeServers());
  const { eventStore, databaseUrl } = servers;
  const database = openPlannedOnce(databaseUrl, PROJECTIONS.length);
  resources.defer(() => database.end());
  await planOnce(database);
  const submission = resources.use(await openSubmission(servers, way));
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

  const apply: Apply = async (target, events) => {
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

  const applying = targets.map((target, index) => ({
    target,
    applyTo: interruptions === null ? apply : interruptBatches(database, apply, interruptions + index),
  }));

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
      await Promise.all(applying.map(({ target, applyTo }) => applyTo(target, events)));
    }
  };

  /** Returns why an observation was refused, or `null`. */
  const submit = async (
    observations: readonly WorldObservation[],
    { messagesOf }: Placement,
  ): Promise<string | null> => {
    try {
      await submission.submit(observations.flatMap(messagesOf));
      return null;
    } catch (error) {
      return (error as Error).message;
    }
  };

  const failureOf = (world: World, { brandIdOf }: Placement): string | undefined =>
    world.brands
      .map(brandIdOf)
      .flatMap((id) => [`adLibrary-${id}`, `brand-${id}`])
      .map((stream) => failedStreams.get(stream))
      .find((failure) => failure !== undefined);

  const begin = (stages: readonly World[]) => ({
    stages,
    placement: place(stages.at(-1) as World, (worldsPlaced += 1)),
    submitted: 0,
    refusal: null as string | null,
    outcomes: [] as Outcome[],
  });
  type Growing = ReturnType<typeof begin>;

  const grow = async (growing: Growing, { observations }: World): Promise<void> => {
    growing.refusal ??= await submit(observations.slice(growing.submitted), growing.placement);
    growing.submitted = observations.length;
  };
  const read = async (world: World, { placement, refusal }: Growing): Promise<Outcome> => {
    const error = refusal ?? failureOf(world, placement);
    return error === undefined
      ? { figures: await readFigures({ db, standings }, world, placement), error: null }
      : { figures: null, error };
  };

  const run = async (worlds: readonly (readonly World[])[]): Promise<readonly (readonly Outcome[])[]> => {
    const all = worlds.map(begin);
    for (let stage = 0; ; stage += 1) {
      const left = all.flatMap((growing) => {
        const world = growing.stages[stage];
        return world === undefined ? [] : [{ growing, world }];
      });
      if (left.length === 0) return all.map(({ outcomes }) => outcomes);
      await inParallel(left, worldsAtOnce, ({ growing, world }) => grow(growing, world));
      await project();
      await rewriteNewAdvertisers(database);
      await inParallel(left, WORLDS_AT_ONCE, async ({ growing, world }) => {
        growing.outcomes.push(await read(world, growing));
      });
    }
  };
  const rebuild: OpenedService['rebuild'] = async () => {
    await rebuildTogether(database, eventStore, PROJECTIONS);
    const next = PROJECTIONS.map((projection) => ({ ...projection, name: `${projection.name}_next` }));
    const rebuilt = Object.entries(await checksums(database, next));
    return {
      live: await checksums(database, PROJECTIONS),
      rebuilt: Object.fromEntries(rebuilt.map(([table, sum]) => [table.replace('_next.', '.'), sum])),
    };
  };
  await grow(begin([NEWEST_WORLD]), NEWEST_WORLD);
  return {
    run,
    rebuild,
    interrupted: () => submission.interrupted(),
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
};
