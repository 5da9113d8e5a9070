import { DAY_MS, HOUR_MS, MINUTE_MS } from '#contracts/values/time.ts';
import { dayAt, libraryAdsAt, type PlacedWorld } from '#tests/world/library-ads.ts';
import { type OpenWorld, openWorld } from '#tests/world/open-world.ts';
import { createWorldClock, type WorldClock } from '#tests/world/world-clock.ts';
import { buildWorld, type DemoBrand, type DemoPage } from '#deploy/local/demo/world/world.ts';
import { openSecretVault, type SecretVault } from '#application/vault/secret-vault.ts';
import { scrapeWanted } from '#contracts/messages/subjects.ts';
import { ARCHIVE_COUNTRIES } from '#domain/collecting/archive-coverage.ts';
import { openEgress } from '#platform/egress/http-client.ts';
import { createLog } from '#platform/logger.ts';
import { openReadDatabase } from '#platform/postgres/read-database.ts';
import type { AddSurroundings } from '#services/collector/add/add-context.ts';
import { storeToken } from '#services/collector/ads-archive/account-store.ts';
import { runCollector } from '#services/collector/collector.ts';
import { until } from '#tests/stack/wait-until.ts';
import { type CollectorStack, CONTACT, openCollectorStack } from '../collector-stack.ts';
import { DyingProcess } from '../dying-process.ts';

export const TOKEN = 'EAAtokenoftheweekstokenoftheweeks';
const VAULT_KEY = Buffer.alloc(32, 7).toString('base64');
const CALLS_PER_HOUR = 150;
/** Day of the world on which the service starts: some ads have ended before, others are still to come. */
const FIRST_DAY = 10;
const WORLD_DAYS = 40;
const ADS_PER_BRAND = 40;
const ROUND_FROM_MS = 6 * HOUR_MS;
const ROUND_UNTIL_MS = 22 * HOUR_MS;
const STEPS_MAX = 500;
/** Milliseconds of real time that one step may take on a busy machine. */
const STEP_MAX_MS = 10 * MINUTE_MS;

export const SOURCES = ['ads_archive', 'storefront'] as const;
export type Source = (typeof SOURCES)[number];

export type PlayedBrand = {
  readonly brand: DemoBrand;
  /** Own pages, linked for the whole time. Shared ones need the rules of attribution, which have their own tests. */
  readonly pages: readonly DemoPage[];
};

export type Weeks = AsyncDisposable & {
  readonly stack: CollectorStack;
  readonly world: OpenWorld;
  readonly placed: PlacedWorld;
  readonly clock: WorldClock;
  readonly brands: readonly PlayedBrand[];
  readonly surroundings: AddSurroundings;
  readonly logged: readonly string[];
  setToken(): Promise<unknown>;
  /** Midnight (UTC) of a day of the campaign, from 0, in milliseconds. */
  dayMs(day: number): number;
  /** `kills`: commits of the round at which the collector is killed, one after the other. */
  round(source: Source, day: number, kills?: readonly number[]): Promise<void>;
};

const pagesOf = (placed: PlacedWorld, { pages }: DemoBrand): readonly DemoPage[] =>
  pages
    .map((index) => placed.world.pageList[index] as DemoPage)
    .filter(
      ({ brands: owners, linkedFrom, linkedUntil }) =>
        owners.length === 1 && linkedFrom <= FIRST_DAY && linkedUntil === null,
    );

type State = {
  readonly due: number;
  readonly in_flight: number;
  readonly batches: number;
  readonly next_at: Date | null;
  readonly access: { readonly kind: string; readonly untilMs?: number } | null;
};

const STATE = `
  with target as (
    select *, greatest(due_at, retry_at) as from_at from collecting.target where source = $2
  )
  select (select count(*)::int from target where from_at <= $1 and coalesce(lease_until, $1) <= $1) as due,
    (select count(*)::int from target where lease_until > $1) as in_flight,
    (select count(*)::int from collecting.archive_batch
      where $2 = 'ads_archive' and coalesce(retry_at, $1) <= $1) as batches,
    (select min(at) from (
      select from_at from target where from_at > $1 and lease_until is null
      union all select retry_at from collecting.archive_batch where $2 = 'ads_archive' and retry_at > $1
    ) as next (at)) as next_at,
    (select access from collecting.account) as access`;

export const openWeeks = async (seed: number, brandCount: number): Promise<Weeks> => {
  const resources = new AsyncDisposableStack();
  const stack = resources.use(await openCollectorStack());
  const firstDayMs = Date.parse('2026-03-01T00:00:00Z');
  const size = { seed, brands: brandCount, ads: brandCount * ADS_PER_BRAND, days: WORLD_DAYS };
  const placed = { world: buildWorld(size), firstDayMs };
  const dayMs = (day: number): number => firstDayMs + (FIRST_DAY + day) * DAY_MS;
  const clock = createWorldClock(dayMs(0));
  const world = resources.use(await openWorld({ placed, clock }));
  world.archive.tokens.add(TOKEN);
  world.archive.percentPerCall = 0;
  const vault: SecretVault = await openSecretVault(stack.database, VAULT_KEY);
  const played = placed.world.brandList.map((brand) => ({ brand, pages: pagesOf(placed, brand) }));
  const egress = resources.use(openEgress({ allowLoopback: true }));
  const db = resources.use(openReadDatabase(stack.databaseUrl));
  /** Messages published so far, by their ids: a repeat must have the same bytes. */
  const published = new Map<string, string>();
  const logged: string[] = [];
  const log = createLog('collector', 'trace', { write: (line) => void logged.push(line) });

  const setToken = (): Promise<unknown> =>
    storeToken(stack.database, vault, { token: TOKEN, expiresAt: null, now: clock.now() });
  await setToken();
  const surroundings: AddSurroundings = {
    environment: {
      DATABASE_URL: stack.databaseUrl,
      NATS_URL: stack.natsUrl,
      MEMBER_VAULT_KEY: VAULT_KEY,
      COLLECT_CONTACT: CONTACT,
      COLLECT_SOURCES: 'storefront,site,ads_archive',
      COLLECT_VIA: world.origin,
      ADS_ARCHIVE_CALLS_PER_HOUR: String(CALLS_PER_HOUR),
      EGRESS_ALLOW_LOOPBACK: 'true',
    },
    clock,
    leaseClock: clock,
    wait: async (ms) => clock.advance(ms),
  };

  const stateOf = async (source: Source): Promise<State> =>
    (await stack.database.query<State>(STATE, [clock.now(), source])).rows[0] as State;
  const isShut = ({ access }: State, source: Source): boolean =>
    source === 'ads_archive' &&
    (access?.kind === 'off' || (access?.kind === 'shut' && (access.untilMs ?? 0) > clock.now().getTime()));
  const isIdle = (state: State, source: Source): boolean =>
    isShut(state, source) ||
    (state.due === 0 && state.batches === 0 && (source === 'ads_archive' || state.in_flight === 0));

  let wishes = 0;
  /** Requests brands as the worker does each day for tracked ones that are due, and wakes the reader. */
  const request = async (source: Source, brands: readonly PlayedBrand[]): Promise<void> => {
    for (const { brand } of brands) {
      wishes += 1;
      const wish = {
        brand_domain: brand.domain,
        cadence: 'daily',
        requested_at: clock.now().toISOString(),
        reason: 'due',
      };
      await stack.nats.jetstream.publish(scrapeWanted(source), JSON.stringify(wish), {
        msgID: `weeks-${seed}-${wishes}`,
      });
    }
  };

  const start = (source: Source, dying: DyingProcess): AsyncDisposable => {
    const stopping = new AbortController();
    const { jetstream, manager, connection } = stack.nats;
    const stream = dying.jetstream(stack.nats, published).jetstream;
    const publish: typeof jetstream.publish = (...message) => stream.publish(...message);
    const options = {
      database: dying.database(stack.database),
      db,
      nats: {
        ...stack.nats,
        manager,
        connection,
        jetstream: Object.assign(Object.create(jetstream) as typeof jetstream, { publish }),
      },
      egress,
      via: world.origin,
      contact: CONTACT,
      sources: [source],
      archive:
        source === 'storefront'
          ? null
          : {
              databaseUrl: stack.databaseUrl,
              vault,
              origin: 'https://graph.facebook.com',
              version: 'v24.0',
              appSecret: null,
              countries: ARCHIVE_COUNTRIES,
              reached: false,
              callsPerHour: CALLS_PER_HOUR,
              wait: (ms: number) => Promise.resolve(clock.advance(ms)),
            },
      botKey: null,
      clock,
      leaseClock: clock,
      log,
      signal: AbortSignal.any([stopping.signal, dying.ended.signal]),
    };
    const running = runCollector(options);
    return {
      [Symbol.asyncDispose]: async () => {
        stopping.abort();
        await running;
      },
    };
  };

  /** Returns false when nothing more is due that day. */
  const moveOn = async (source: Source, untilMs: number): Promise<boolean> => {
    const state = await stateOf(source);
    if (state.access?.kind === 'off' && source === 'ads_archive') {
      await setToken();
      return true;
    }
    const nextMs = isShut(state, source) ? (state.access?.untilMs ?? 0) : (state.next_at?.getTime() ?? 0);
    if (nextMs === 0 || nextMs > untilMs) return false;
    clock.advanceTo(nextMs);
    return true;
  };

  const round: Weeks['round'] = async (source, day, kills = []) => {
    clock.advanceTo(dayMs(day) + ROUND_FROM_MS);
    await request(source, played);
    const waiting = [...kills];
    for (let step = 0; step < STEPS_MAX; ) {
      const dying = new DyingProcess(waiting.shift() ?? Number.POSITIVE_INFINITY);
      await using _ = start(source, dying);
      for (; step < STEPS_MAX && !dying.isDead; step += 1) {
        await request(source, played.slice(0, 1));
        await until(
          `the end of a step of ${source} on day ${day}`,
          STEP_MAX_MS,
          async () => dying.isDead || isIdle(await stateOf(source), source),
        );
        if (dying.isDead) break;
        if (!(await moveOn(source, dayMs(day) + ROUND_UNTIL_MS))) return;
      }
      // The lease of a killed process expires within a minute.
      clock.advance(MINUTE_MS + 1);
    }
    throw new Error(`The round of ${source} on day ${day} did not end.`);
  };

  return {
    stack,
    world,
    placed,
    clock,
    brands: played,
    surroundings,
    logged,
    setToken,
    dayMs,
    round,
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
};

/** The played library shows one of each at most. */
export type AdText = { readonly body: string | null; readonly title: string | null };

export type ShownAd = {
  readonly pageId: string;
  readonly isRunning: boolean;
  readonly text: AdText;
  readonly startedOn: string;
  readonly stoppedOn: string | null;
};

/** Ads by world, brand and day: the library shows the same ads all day, and each event of a brand is compared with them. */
const adsByDay = new WeakMap<PlacedWorld, Map<string, ReadonlyMap<string, ShownAd>>>();

/** Ads that are delivered in a country that the collector asks for, by id. */
export const adsAt = (
  { placed }: Pick<Weeks, 'placed'>,
  { brand, pages }: PlayedBrand,
  timeMs: number,
): ReadonlyMap<string, ShownAd> => {
  const known = adsByDay.get(placed) ?? new Map<string, ReadonlyMap<string, ShownAd>>();
  adsByDay.set(placed, known);
  const key = `${brand.domain} ${dayAt(placed, timeMs)}`;
  const found = known.get(key);
  if (found !== undefined) return found;
  const ads = new Map(
    pages
      .flatMap((page) => [...libraryAdsAt(placed, page, timeMs)])
      .filter(({ countries }) => countries.some((country) => ARCHIVE_COUNTRIES.includes(country)))
      .map(({ id, pageId, isRunning, bodies, titles, startedOn, stoppedOn }) => {
        const text = { body: bodies[0] ?? null, title: titles[0] ?? null };
        return [id, { pageId, isRunning, text, startedOn, stoppedOn }];
      }),
  );
  known.set(key, ads);
  return ads;
};
