import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { headersFrom } from '#platform/nats/connection.ts';
import { routingHeadersOf } from '#contracts/messages/observation-headers.ts';
import { observationSubject } from '#contracts/messages/subjects.ts';
import {
  type AccessSets,
  accessSetsOf,
  DependencyOrder,
  unreadAccessSetsOf,
} from '#services/ingest/queue/dependency-order.ts';
import {
  type ObservationMessage,
  readObservationMessage,
} from '#services/ingest/queue/observation-message.ts';
import { pause } from '#platform/clock.ts';
import { runs } from '#tests/property-seed.ts';

/** Observation that runs in queue order if it depends on others, else concurrently. */

type TestObservation = {
  readonly type:
    | 'brand.profile'
    | 'social_page.link'
    | 'ad_library.scan'
    | 'ad_library.scan_end'
    | 'site.scan';
  readonly brand: string;
  readonly pages: readonly string[];
  readonly steps: number;
  readonly hasHeaders: boolean;
};

const NEW = 'four.example';

const observation: fc.Arbitrary<TestObservation> = fc.record({
  type: fc.constantFrom(
    'brand.profile',
    'social_page.link',
    'ad_library.scan',
    'ad_library.scan_end',
    'ad_library.scan_end',
    'site.scan',
  ),
  brand: fc.constantFrom('one.example', 'two.example', 'three.example', NEW),
  pages: fc.uniqueArray(fc.constantFrom('11111', '22222', '33333'), { maxLength: 2 }),
  steps: fc.nat({ max: 6 }),
  hasHeaders: fc.boolean(),
});

const messageOf = ({ type, brand, pages, hasHeaders }: TestObservation): ObservationMessage => {
  const content = {
    ...(type === 'brand.profile' || type === 'site.scan' ? { domain: brand } : { brand_domain: brand }),
    ads: [{ body: 'says "ad_library.scan_end" and "brand.profile"' }],
    coverage: { pages: pages.map((page_id) => ({ page_id, page_name: null })) },
    type,
  };
  return readObservationMessage({
    subject: observationSubject(brand),
    data: Buffer.from(JSON.stringify(content)),
    headers: headersFrom(hasHeaders ? routingHeadersOf(content) : {}),
  });
};

const isRegistered = async (domain: string): Promise<boolean> => domain !== NEW;
const registersByScan = ({ type, brand }: TestObservation): boolean =>
  brand === NEW && type === 'ad_library.scan_end';
const changesOwners = (one: TestObservation): boolean =>
  one.type === 'social_page.link' ||
  (one.brand === NEW && one.type === 'brand.profile') ||
  registersByScan(one);
const dependsOn = (later: TestObservation, earlier: TestObservation): boolean =>
  later.brand === earlier.brand ||
  (later.type === 'ad_library.scan_end' && changesOwners(earlier)) ||
  (changesOwners(later) && registersByScan(earlier)) ||
  (later.type === 'ad_library.scan_end' &&
    earlier.type === 'ad_library.scan_end' &&
    (later.pages.some((page) => earlier.pages.includes(page)) ||
      (later.pages.length === 0 && earlier.pages.length === 0)));

it('runs dependent observations in queue order, and runs all observations', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(observation, { maxLength: 12 }), async (queue) => {
      const order = new DependencyOrder();
      const log: string[] = [];
      const accessSets: AccessSets[] = [];
      for (const item of queue) {
        accessSets.push(await accessSetsOf(messageOf(item), isRegistered));
      }
      await Promise.all(
        queue.map((item, index) =>
          order.run(accessSets[index] as AccessSets, async () => {
            log.push(`begin ${index}`);
            for (let step = 0; step < item.steps; step += 1) await Promise.resolve();
            log.push(`end ${index}`);
          }),
        ),
      );
      expect(log.length).toBe(2 * queue.length);
      queue.forEach((later, at) =>
        queue.slice(0, at).forEach((earlier, before) => {
          if (!dependsOn(later, earlier)) return;
          expect(log.indexOf(`end ${before}`)).toBeLessThan(log.indexOf(`begin ${at}`));
        }),
      );
    }),
    { numRuns: runs(500) },
  );
});

it('runs an observation without dependencies while another one is stuck', async () => {
  const order = new DependencyOrder();
  const stuck = new Promise<void>(() => undefined);
  const observe = (
    type: TestObservation['type'],
    brand: string,
    pages: readonly string[],
  ): TestObservation => ({
    type,
    brand,
    pages,
    steps: 0,
    hasHeaders: true,
  });
  const run = async (one: TestObservation, work: () => Promise<void>) =>
    order.run(await accessSetsOf(messageOf(one), isRegistered), work);
  void run(observe('ad_library.scan_end', 'one.example', ['11111']), () => stuck);
  await run(observe('ad_library.scan_end', 'two.example', ['22222']), async () => undefined);
  await run(observe('ad_library.scan', 'three.example', []), async () => undefined);
  await run(observe('brand.profile', 'two.example', []), async () => undefined);
});

it('runs links and registrations while scans and links of other brands are stuck, and the scans behind them after them', async () => {
  const order = new DependencyOrder();
  const stuck = new Promise<void>(() => undefined);
  const linking = Promise.withResolvers<void>();
  const done: string[] = [];
  const add = async (type: TestObservation['type'], brand: string, pages: string[], ends?: Promise<void>) => {
    const one = { type, brand, pages, steps: 0, hasHeaders: true };
    const sets = await accessSetsOf(messageOf(one), isRegistered);
    const running = order.run(sets, async () => {
      await ends;
      done.push(`${type} ${brand}`);
    });
    return { running };
  };
  await add('ad_library.scan', 'one.example', [], stuck);
  await add('ad_library.scan_end', 'two.example', ['22222'], stuck);
  const link = await add('social_page.link', 'three.example', [], linking.promise);
  const scan = await add('ad_library.scan_end', 'five.example', ['11111']);
  const profile = await add('brand.profile', NEW, []);
  const scanAfter = await add('ad_library.scan_end', 'six.example', ['33333']);
  await profile.running;
  await pause(10);
  expect(done).toEqual([`brand.profile ${NEW}`]);
  linking.resolve();
  await Promise.all([link, scan, scanAfter].map(({ running }) => running));
  expect(done[1]).toBe('social_page.link three.example');
});

describe('large observations that wait', () => {
  const headersOf = (type: TestObservation['type'], brand: string) => {
    const content = { type, ...(type === 'brand.profile' ? { domain: brand } : { brand_domain: brand }) };
    return { subject: observationSubject(brand), headers: headersFrom(routingHeadersOf(content)) };
  };
  /** Order with large observations that never end. */
  const open = () => {
    const order = new DependencyOrder();
    const stuck = new Promise<void>(() => undefined);
    const done: string[] = [];
    const addLarge = (type: TestObservation['type'], brand: string): void => {
      void order.run(unreadAccessSetsOf(headersOf(type, brand), true) as AccessSets, () => stuck);
    };
    const add = async (type: TestObservation['type'], brand: string, pages: readonly string[] = []) => {
      const one = { type, brand, pages, steps: 0, hasHeaders: true };
      const sets = await accessSetsOf(messageOf(one), isRegistered);
      void order.run(sets, async () => void done.push(`${type} ${brand}`));
    };
    return { done, add, addLarge };
  };
  const settled = () => new Promise((resolve) => setTimeout(resolve, 10));

  it.each(['ad_library.scan', 'ad_library.scan_end', 'brand.profile', 'social_page.link'] as const)(
    'of type %s hold up no links, new brands and scans of others',
    async (type) => {
      const { done, add, addLarge } = open();
      addLarge(type, 'one.example');
      await add('social_page.link', 'two.example');
      await add('brand.profile', NEW);
      await add('ad_library.scan', 'two.example');
      await add('ad_library.scan_end', 'two.example', ['22222']);
      await settled();
      expect(done).toEqual([
        'social_page.link two.example',
        `brand.profile ${NEW}`,
        'ad_library.scan two.example',
        'ad_library.scan_end two.example',
      ]);
    },
  );

  it('hold up the end of their scan and scans of its pages, but nothing that waits for neither', async () => {
    const { done, add, addLarge } = open();
    addLarge('ad_library.scan', 'one.example');
    await add('ad_library.scan_end', 'one.example', ['11111']);
    await add('ad_library.scan_end', 'two.example', ['11111']);
    await add('social_page.link', 'three.example');
    await add('ad_library.scan_end', 'three.example', ['33333']);
    await settled();
    expect(done).toEqual(['social_page.link three.example', 'ad_library.scan_end three.example']);
  });

  it('come after the links in front of them', async () => {
    const order = new DependencyOrder();
    const gate = Promise.withResolvers<void>();
    const done: string[] = [];
    const link = {
      type: 'social_page.link',
      brand: 'two.example',
      pages: [],
      steps: 0,
      hasHeaders: true,
    } as const;
    void order.run(await accessSetsOf(messageOf(link), isRegistered), async () => {
      await gate.promise;
      done.push('link');
    });
    const large = unreadAccessSetsOf(headersOf('ad_library.scan', 'one.example'), true) as AccessSets;
    const ended = order.run(large, async () => void done.push('large'));
    await settled();
    expect(done).toEqual([]);
    gate.resolve();
    await ended;
    expect(done).toEqual(['link', 'large']);
  });
});

it('prepares an observation while the one before it runs, and not sooner', async () => {
  const order = new DependencyOrder();
  const log: string[] = [];
  const ends = [Promise.withResolvers<void>(), Promise.withResolvers<void>()] as const;
  const sets = { follows: [], writes: ['key one.example'] };
  const run = (name: string, end: Promise<void>): Promise<void> =>
    order.run(
      sets,
      async () => {
        log.push(`runs ${name}`);
        await end;
      },
      () => log.push(`prepares ${name}`),
    );
  const running = [
    run('first', ends[0].promise),
    run('second', ends[1].promise),
    run('third', Promise.resolve()),
  ];
  await pause(1);
  expect(log.toSorted()).toEqual(['prepares first', 'prepares second', 'runs first']);
  ends[0].resolve();
  await pause(1);
  expect(log.slice(3).toSorted()).toEqual(['prepares third', 'runs second']);
  ends[1].resolve();
  await Promise.all(running);
  expect(log.at(-1)).toBe('runs third');
});
