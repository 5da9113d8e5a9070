import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { adLibraryStream } from '#contracts/events/corpus/ad-library.ts';
import type { RecordedEvent } from '#contracts/events/event.ts';
import type { Database } from '#platform/postgres/pool.ts';
import { ads } from '#projections/ads/project.ts';
import { creatives } from '#projections/creatives/project.ts';
import type { Projection } from '#projections/define-projection.ts';
import { pages } from '#projections/pages/project.ts';
import { partnerships } from '#projections/partnerships/project.ts';
import { radar } from '#projections/radar/project.ts';
import { signals } from '#projections/signals/project.ts';
import { socialPages } from '#projections/social-pages/project.ts';
import { applyBatch } from '#services/projector/apply/apply-batch.ts';
import { createProjectorTables } from '#services/projector/apply/checkpoints.ts';
import { openPlannedOnce } from '../dsl/planned-once.ts';
import { type OpenTargets, openTargets, recorded } from '../dsl/projections.ts';
import { createTestDatabase } from '../stack/database.ts';
import { checksums } from '../stack/read-models.ts';
import { type CorrectedAds, correctedAds, scanOf } from './fixtures/corrected-ads.ts';
import { at, idOf } from './fixtures/network-events.ts';
import { runs, seedOf } from '#tests/property-seed.ts';

/** The rows must equal those of a log with each ad's last state, for any interleaving and batches. */
const BRANDS = ['a', 'b', 'c'] as const;
const PAGES = ['200000001', '200000002'] as const;
const BODIES = ['Warm socks', 'WARM socks!', 'Cold feet'] as const;
const LINKS = ['https://a.example/one', 'https://b.example/two', 'https://c.example/three'] as const;
const ADS = 5;
const STEPS = 45;
const FILES = ['a', 'b', 'c'] as const;
const STORIES = 1;

const of = <T>(values: readonly T[], index: number): T => values[index % values.length] as T;

type Draw = readonly [kind: number, who: number, one: number, other: number];

const contentOf = (one: number, other: number) => ({
  body: of(BODIES, one),
  link_url: other % 4 === 0 ? null : of(LINKS, other),
  format: one % 2 === 0 ? ('image' as const) : ('video' as const),
});

/** Plays one step. Days of steps grow; those of late scans are older. */
const play = (story: CorrectedAds, [kind, who, one, other]: Draw, day: number): void => {
  const id = `90000000${String(who).padStart(2, '0')}`;
  const late = 2 + (other % day);
  const page = { page_id: of(PAGES, one), page_name: `Page ${of(PAGES, one)}` };
  const known = story.ads.get(id);
  if (!known && kind % 3 === 0) {
    story.correct(id, late, page, { brand: of(BRANDS, other), content: contentOf(one, other) });
  } else if (!known) story.start(of(BRANDS, other), id, day, page, contentOf(one, other));
  else if (kind <= 2)
    story.move(
      id,
      day,
      of(
        BRANDS.filter((brand) => brand !== known.brand),
        other,
      ),
    );
  else if (kind <= 4) {
    const occurrence = {
      kind: 'started',
      scan_id: scanOf(of(BRANDS, one), late),
      observed_at: at(late),
    } as const;
    story.correct(
      id,
      late,
      {
        ...page,
        first_seen_at: at(late),
        status: one % 3 === 0 ? 'inactive' : 'active',
        inactive_since: null,
      },
      {
        content: contentOf(one, other),
        ...(one % 2 === 0 ? { withdrawn: [occurrence] } : { added: [occurrence] }),
      },
    );
  } else if (kind === 5) story.revise(id, day, of(BODIES, other));
  else if (kind === 6) story.leadTo(id, day, of(LINKS, one));
  else if (known.record.status === 'inactive') story.comeBack(id, day);
  else if (kind === 7) story.stop(id, day);
  else if (kind === 8) story.miss(id, day);
  else if (kind === 9) story.see(id, day);
  else story.namePartner(id, day, { page_id: '300000001', page_name: 'Maya' });
};

const storyOf = (draws: readonly Draw[]): CorrectedAds => {
  const story = correctedAds(BRANDS);
  for (const [index, key] of FILES.entries()) {
    story.file(
      key,
      3 + index,
      [0, 1, 2].map((n) => `90000000${String((n + index) % ADS).padStart(2, '0')}`),
    );
  }
  for (const [index, [kind, who, one, other]] of draws.entries()) {
    const day = 5 + Math.floor(index / 4);
    play(story, [kind, who, one, other], day);
    if (index % 4 === 3)
      story.scan(of(BRANDS, index), day, { active: 10 * (one + 1), news: other }, one % 4 === 0);
    if (index % 4 === 3 && who === 0) story.correctScan(of(BRANDS, index), day, { active: 5, news: one });
  }
  return story;
};

/** The log names each ad once, as it is at the end of the story. */
const endOf = (story: CorrectedAds) => {
  const end = correctedAds(BRANDS);
  const firsts = story.events.filter(({ stream }) => stream.startsWith('creative-'));
  end.events.push(...firsts);
  for (const [id, { brand, record }] of story.ads)
    end.correct(id, 2, record, { brand, content: record.content });
  return end.events;
};

/** Each stream keeps its own order; `picks` choose the next stream. */
const interleave = (events: readonly RecordedEvent[], picks: readonly number[]): readonly RecordedEvent[] => {
  const streams = [...Map.groupBy(events, ({ stream }) => stream).values()].map((own) => [...own]);
  const mixed: RecordedEvent[] = [];
  for (let turn = 0; mixed.length < events.length; turn += 1) {
    const waiting = streams.filter((own) => own.length > 0);
    const next = waiting[(picks[turn % picks.length] ?? 0) % waiting.length]?.shift();
    if (next) mixed.push(next);
  }
  return mixed;
};

const isOf =
  (brand: string) =>
  ({ stream }: RecordedEvent): boolean =>
    stream === adLibraryStream(idOf(brand));

const draw = fc.tuple(fc.nat(10), fc.nat(ADS - 1), fc.nat(11), fc.nat(11));
const stories = fc.sample(
  fc.record({
    draws: fc.array(draw, { minLength: STEPS, maxLength: STEPS }),
    picks: fc.array(fc.nat(6), { minLength: 5, maxLength: 20 }),
    size: fc.integer({ min: 2, max: 12 }),
  }),
  { numRuns: runs(STORIES), seed: seedOf(20_261_122) },
);

/** Tables that depend on the last state of the ads alone, without the columns that also depend on earlier states. */
const FOLLOWING: readonly (readonly [Projection, tables: readonly string[], without: readonly string[]])[] = [
  [ads, ['ad'], []],
  [socialPages, ['ad', 'run', 'copy_run', 'copy_page', 'copy_total', 'hub', 'member'], []],
  [creatives, ['ad', 'carriage', 'file_count', 'file_scope', 'coverage', 'scope'], []],
  [pages, ['ad'], []],
  [partnerships, ['ad'], ['first_seen_at', 'last_seen_at']],
  [radar, [], []],
  [signals, [], []],
];

describe('ads that late scans correct and that change brands', () => {
  let testDatabase: Awaited<ReturnType<typeof createTestDatabase>>;
  let database: Database;
  let targets: OpenTargets;
  beforeAll(async () => {
    testDatabase = await createTestDatabase();
    database = openPlannedOnce(testDatabase.url, 4);
    await createProjectorTables(database);
    targets = openTargets(database);
  });
  afterAll(async () => {
    await database.end();
    await testDatabase.drop();
  });

  const build = async (
    projection: Projection,
    events: readonly RecordedEvent[],
    size: number,
    without: readonly string[] = [],
  ): Promise<Readonly<Record<string, string>>> => {
    const target = await targets(projection);
    const wanted = events.filter(({ stream }) =>
      projection.prefixes.some((prefix) => stream.startsWith(prefix)),
    );
    for (let from = 0; from < wanted.length; from += size) {
      const batch = wanted.slice(from, from + size);
      await applyBatch(database, target, batch, batch.at(-1)?.position ?? 0n);
    }
    return checksums(database, [projection], without);
  };

  it.each(FOLLOWING.map((one) => [one[0].name, one] as const))(
    'have the same rows in %s for any interleaving and batch size, equal to the final state of the ads',
    async (_, [projection, tables, exceptions]) => {
      for (const { draws, picks, size } of stories) {
        const story = storyOf(draws);
        const events = recorded(story.events);
        const without = ['full_at', ...exceptions];
        const whole = await build(projection, events, Number.POSITIVE_INFINITY);
        const got = await checksums(database, [projection], without);
        expect(await build(projection, events, 1), 'event by event').toEqual(whole);
        expect(await build(projection, interleave(events, picks), size), `in batches of ${size}`).toEqual(
          whole,
        );
        expect(await build(projection, interleave(events, [6]), 1), 'stream by stream').toEqual(whole);
        expect(await build(projection, interleave(events, [0]), size), 'stream by stream').toEqual(whole);
        const names = tables.map((table) => `${projection.name.replaceAll('-', '_')}.${table}`);
        const chosen = (sums: Readonly<Record<string, string>>) =>
          Object.fromEntries(names.map((name) => [name, sums[name]]));
        const end = await build(projection, recorded(endOf(story)), Number.POSITIVE_INFINITY, without);
        expect(chosen(got)).toEqual(chosen(end));
      }
    },
  );

  const sold = { body: 'Summer sale' };
  const idsOfSale = ['9000000001', '9000000002', '9000000003'] as const;
  const startedOf = (day: number) =>
    ({ kind: 'started', scan_id: scanOf('a', day), observed_at: at(day) }) as const;

  it('leave no signal on the day of a brand that an event of a lower position takes an item from', async () => {
    const story = correctedAds(BRANDS);
    story.start('a', idsOfSale[0], 6).move(idsOfSale[0], 7, 'b');
    story.correct(idsOfSale[0], 8, {}, { added: [startedOf(6)] });
    const events = recorded(story.events);
    const [own, others] = [events.filter(isOf('a')), events.filter((event) => !isOf('a')(event))];
    const whole = await build(signals, events, Number.POSITIVE_INFINITY);
    expect(await build(signals, [...others, ...own], 1), 'the lower position later').toEqual(whole);
  });

  it('leave no signal that names a withdrawn item in a brand through which the ads moved', async () => {
    const story = correctedAds(BRANDS);
    for (const id of idsOfSale) {
      story.start('a', id, 6, {}, sold).move(id, 7, 'b');
      story.correct(id, 6, {}, { withdrawn: [startedOf(6)] }).correct(id, 6, {}, { added: [startedOf(6)] });
    }
    for (const brand of BRANDS) story.scan(brand, 6, { active: 3, news: 3 });
    for (const id of idsOfSale) story.move(id, 9, 'c').correct(id, 6, {}, { withdrawn: [startedOf(6)] });
    const events = recorded(story.events);
    const whole = await build(signals, events, Number.POSITIVE_INFINITY);
    expect(await build(signals, events, 1), 'event by event').toEqual(whole);
  });
});
