import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { HOUR_MS, MINUTE_MS, SECOND_MS } from '#contracts/values/time.ts';
import type { ArchiveFault } from '#tests/world/archive-world.ts';
import { readArchiveAnswer } from '#services/collector/ads-archive/archive-client.ts';
import { type ArchiveScan, brandObservations } from '#services/collector/ads-archive/archive-scan.ts';
import type { ArchiveOutcome } from '#services/collector/ads-archive/read-archive.ts';
import { runs } from '#tests/property-seed.ts';
import {
  APP_SECRET,
  type ArchiveStack,
  createTestBatch,
  openArchiveStack,
  START_MS,
  TOKEN,
  worldAds,
} from './archive-stack.ts';

const PAGE = '10000001';
const OTHER = '10000002';
let stack: ArchiveStack;
beforeEach(async () => {
  stack = await openArchiveStack();
});
afterEach(() => stack[Symbol.asyncDispose]());

const scanOf = (outcome: ArchiveOutcome): ArchiveScan => {
  if (outcome.kind === 'wait') throw new Error(`waits: ${outcome.detail}`);
  return outcome.scan;
};
const parameter = (name: string): readonly (string | null)[] =>
  stack.world.calls.map(({ path }) => new URL(path, 'https://x.example').searchParams.get(name));
const idsOf = ({ ads }: ArchiveScan): readonly string[] => ads.map(({ ad_id }) => ad_id).toSorted();
const error = (code: number, rest: Partial<Extract<ArchiveFault, { kind: 'error' }>> = {}): ArchiveFault => ({
  kind: 'error',
  code,
  ...rest,
});

describe('a batch of pages', () => {
  test('is read to its end, one call after the short last answer', async () => {
    stack.world.ads.push(...worldAds(PAGE, 300, 0), ...worldAds(OTHER, 57, 1_000));
    const scan = scanOf(await stack.read(createTestBatch()));
    expect(idsOf(scan)).toEqual(stack.world.ads.map(({ id }) => id).toSorted());
    expect(scan).toMatchObject({ complete: true, doubted: [], refusedPages: [], detail: '357 ads' });
    expect(parameter('limit')).toEqual(['250', '250', '250']);
    expect(new Set(parameter('search_page_ids'))).toEqual(new Set([`[${PAGE},${OTHER}]`]));
    expect(parameter('ad_reached_countries')[0]?.split(',')).toHaveLength(28);
    const starts = stack.world.calls.map(({ atMs }) => atMs);
    expect(starts).toEqual([START_MS, START_MS + 24 * SECOND_MS, START_MS + 48 * SECOND_MS]);
  });

  test('without ads is complete after one call', async () => {
    const scan = scanOf(await stack.read(createTestBatch()));
    expect(scan).toMatchObject({ ads: [], complete: true });
    expect(stack.world.calls).toHaveLength(1);
  });

  test('asks for ended ads since two days before the last complete scan, and shows them as ended', async () => {
    const [ended, old, active] = worldAds(PAGE, 3, 0).map((ad) => ({ ...ad }));
    stack.world.ads.push(
      { ...(ended as (typeof stack.world.ads)[number]), stoppedOn: '2026-05-08' },
      { ...(old as (typeof stack.world.ads)[number]), stoppedOn: '2026-05-06' },
      { ...(active as (typeof stack.world.ads)[number]), stoppedOn: '2026-06-01' },
    );
    const stopsSince = new Date('2026-05-09T08:00:00Z');
    const scan = scanOf(await stack.read(createTestBatch(), { stopsSince }));
    expect(parameter('ad_delivery_date_min')).toContain('2026-05-07');
    expect(scan.ads.map((ad) => [ad.ad_id, ad.is_active, ad.stopped_on])).toEqual([
      [active?.id, true, null],
      [ended?.id, false, '2026-05-08'],
    ]);
  });

  test('requests no snapshot, money or reach, and neither token nor secret is in an address or in the spool', async () => {
    stack.world.ads.push(...worldAds(PAGE, 30, 0));
    const batch = createTestBatch();
    stack.world.faults.next = [error(1, { message: `access_token=${TOKEN} and EAAothertokenothertoken` })];
    const scan = scanOf(await stack.read(batch, { stopsSince: new Date(START_MS) }));
    for (const fields of parameter('fields'))
      expect(fields).not.toMatch(/snapshot|reach|spend|impressions|url/);
    const everything = JSON.stringify([stack.world.calls, batch.stored, batch.cursor, stack.saved, scan]);
    expect(everything).not.toMatch(/EAA\w|access_token|https:/);
    expect(everything).not.toContain(APP_SECRET);
    expect(parameter('appsecret_proof')[0]).toMatch(/^[0-9a-f]{64}$/);
  });
});

describe('the size of an answer', () => {
  test('is halved at the same cursor until the library serves it, and loses no ad', async () => {
    stack.world.ads.push(...worldAds(PAGE, 400, 0));
    stack.world.faults.adsMax = 70;
    const scan = scanOf(await stack.read(createTestBatch()));
    expect(scan.ads).toHaveLength(400);
    expect(scan.complete).toBe(true);
    expect(parameter('limit').slice(0, 4)).toEqual(['250', '125', '62', '62']);
    expect(parameter('after').slice(0, 3)).toEqual([null, null, null]);
  });

  test('is doubled after ten good answers', async () => {
    stack.world.percentPerCall = 0;
    stack.world.ads.push(...worldAds(PAGE, 2_700, 0));
    const scan = scanOf(await stack.read(createTestBatch()));
    expect(scan.ads).toHaveLength(2_700);
    expect(parameter('limit')).toEqual([...Array.from({ length: 10 }, () => '250'), '500', '500']);
  });

  test('that is too much even at ten ads is a fault after five tries', async () => {
    stack.world.ads.push(...worldAds(PAGE, 400, 0));
    stack.world.faults.adsMax = 5;
    expect(await stack.read(createTestBatch())).toMatchObject({
      kind: 'wait',
      cause: 'fault',
      untilMs: null,
    });
    expect(parameter('limit').slice(-5)).toEqual(['10', '10', '10', '10', '10']);
  });
});

describe('a fault of the library', () => {
  const faults: readonly (readonly [string, ArchiveFault])[] = [
    ['error 1', error(1)],
    ['error 2', error(2)],
    ['an unknown error', error(12_345, { status: 400 })],
    ['a 503 without a code', error(0, { status: 503 })],
    ['HTML for JSON', { kind: 'html' }],
    ['an answer that was cut off', { kind: 'cut' }],
    ['an answer over 16 MiB', { kind: 'large' }],
    ['a closed connection', { kind: 'network' }],
  ];

  test.each(faults)('%s is tried again, and loses no ad', async (_name, fault) => {
    stack.world.ads.push(...worldAds(PAGE, 300, 0));
    stack.world.faults.next = [null, fault, fault, fault, fault];
    const scan = scanOf(await stack.read(createTestBatch()));
    expect(scan.ads).toHaveLength(300);
    expect(scan.complete).toBe(true);
    expect(stack.world.calls).toHaveLength(7);
  });

  test('gives the batch back after five tries, 10 s apart and doubling, and goes on at the same cursor', async () => {
    stack.world.ads.push(...worldAds(PAGE, 600, 0));
    stack.world.percentPerCall = 0;
    const batch = createTestBatch();
    stack.world.faults.next = [null, ...Array.from({ length: 5 }, () => error(2))];
    expect(await stack.read(batch)).toMatchObject({ kind: 'wait', cause: 'fault', untilMs: null });
    const waits = stack.world.calls
      .slice(1)
      .map(({ atMs }, index) => atMs - (stack.world.calls[index]?.atMs ?? 0));
    // The pace of 24 s counts too.
    expect(waits.map((ms) => ms / SECOND_MS)).toEqual([24, 24, 24, 40, 80]);
    const [at] = parameter('after').slice(-1);
    const scan = scanOf(await stack.read(batch));
    expect(parameter('after')[6]).toBe(at);
    expect(scan.ads).toHaveLength(600);
    expect(scan.complete).toBe(true);
  });

  test.each([
    ['a fault', error(2)],
    ['a refused token', error(190)],
    ['an invalid parameter', error(100)],
  ])('%s while ended ads are read does the scan no harm', async (_name, fault) => {
    stack.world.ads.push(...worldAds(PAGE, 30, 0));
    stack.world.faults.next = [null, null, ...Array.from({ length: 5 }, () => fault)];
    const scan = scanOf(
      await stack.read(createTestBatch(), { stopsSince: new Date(START_MS), pageIds: [PAGE] }),
    );
    expect(scan).toMatchObject({ complete: true });
    expect(scan.detail).toContain('ended ads were not read');
  });
});

describe('an account', () => {
  test.each([4, 17, 32, 368, 613, 80_004])(
    'that is limited with %i is shut, and one probe follows',
    async (code) => {
      stack.world.ads.push(...worldAds(PAGE, 300, 0));
      const batch = createTestBatch();
      stack.world.faults.next = [null, error(code)];
      const shut = await stack.read(batch);
      const untilMs = stack.nowMs + 30 * MINUTE_MS;
      expect(shut).toMatchObject({ kind: 'wait', cause: 'shut', untilMs });
      expect(await stack.read(batch)).toMatchObject({ kind: 'wait', cause: 'shut', untilMs });
      expect(stack.world.calls).toHaveLength(2);
      stack.nowMs = untilMs;
      stack.world.faults.next = [error(code)];
      expect(await stack.read(batch)).toMatchObject({ untilMs: stack.nowMs + HOUR_MS });
      expect(stack.world.calls).toHaveLength(3);
      stack.nowMs += HOUR_MS;
      const scan = scanOf(await stack.read(batch));
      expect(scan.ads).toHaveLength(300);
      expect(scan.complete).toBe(true);
      expect(stack.saved.at(-1)?.access).toEqual({ kind: 'open' });
    },
  );

  test('rests for what the usage header says', async () => {
    stack.world.faults.next = [error(613, { regainMinutes: 600 })];
    expect(await stack.read(createTestBatch())).toMatchObject({ untilMs: stack.nowMs + 10 * HOUR_MS });
  });

  test.each([
    [10, { subcode: 2_332_002 }],
    [190, {}],
    [200, { status: 403 }],
    [299, {}],
  ])('whose token is refused with %i is off, and nothing is called any more', async (code, rest) => {
    stack.world.ads.push(...worldAds(PAGE, 300, 0));
    const batch = createTestBatch();
    stack.world.faults.next = [null, error(code, rest)];
    expect(await stack.read(batch)).toMatchObject({ kind: 'wait', cause: 'off', untilMs: null });
    expect(await stack.read(batch)).toMatchObject({ kind: 'wait', cause: 'off' });
    expect(stack.world.calls).toHaveLength(2);
    expect(stack.saved.at(-1)?.access).toMatchObject({ kind: 'off' });
    // After a loss of the token the absence of an ad has no meaning.
    stack.nowMs += 7 * HOUR_MS;
    expect(scanOf(await stack.read(batch))).toMatchObject({ complete: false });
  });

  test('does not show its token when the platform repeats it in a message', async () => {
    stack.world.tokens.clear();
    const outcome = await stack.read(createTestBatch());
    expect(outcome).toMatchObject({ cause: 'off', detail: expect.stringContaining('(removed)') });
    expect(JSON.stringify([outcome, stack.saved])).not.toContain(TOKEN);
  });

  test('never fills the meter, also when a call takes much of it', async () => {
    stack.world.percentPerCall = 17;
    stack.world.ads.push(...worldAds(PAGE, 2_000, 0));
    const scan = scanOf(await stack.read(createTestBatch(), { endsMs: START_MS + 60 * HOUR_MS }));
    expect(scan.ads).toHaveLength(2_000);
    expect(stack.saved.every(({ access, percent }) => access.kind === 'open' && (percent ?? 0) < 100)).toBe(
      true,
    );
  });
});

describe('a page', () => {
  const pages = Array.from({ length: 10 }, (_, index) => String(10_000_001 + index));

  test('with a refused id is found by halves and left out, and all others are read', async () => {
    for (const [index, pageId] of pages.entries())
      stack.world.ads.push(...worldAds(pageId, 40, index * 1_000));
    stack.world.faults.refused.add('10000007');
    const scan = scanOf(
      await stack.read(createTestBatch(), { pageIds: pages, stopsSince: new Date(START_MS) }),
    );
    expect(scan.refusedPages).toEqual([
      { page_id: '10000007', message: expect.stringContaining('code 100') },
    ]);
    expect(scan.ads).toHaveLength(360);
    expect(scan.complete).toBe(true);
    const meta = { startedAt: new Date(START_MS), countries: ['DE'] };
    expect(brandObservations(scan, { domain: 'a.example', pageIds: ['10000007'] }, meta)).toEqual([]);
    const end = brandObservations(scan, { domain: 'a.example', pageIds: ['10000007', '10000003'] }, meta).at(
      -1,
    );
    expect(end).toMatchObject({ coverage: { pages: [{ page_id: '10000003' }], complete: true } });
  });

  const before = new Map([[PAGE, 40]]);
  const completeOf = (scan: ArchiveScan, pageId: string): boolean => {
    const end = brandObservations(
      scan,
      { domain: 'a.example', pageIds: [pageId] },
      { startedAt: new Date(START_MS), countries: ['DE'] },
    ).at(-1);
    return end?.type === 'ad_library.scan_end' && end.coverage.complete;
  };

  test('that is not found for a while is read again alone an hour later, and its scan is partial', async () => {
    stack.world.ads.push(...worldAds(PAGE, 40, 0), ...worldAds(OTHER, 4, 1_000));
    stack.world.faults.forgotten.add(PAGE);
    const batch = createTestBatch();
    const waiting = await stack.read(batch, { adsBefore: before });
    expect(waiting).toMatchObject({ kind: 'wait', cause: 'doubted', untilMs: stack.nowMs + HOUR_MS });
    stack.nowMs += HOUR_MS;
    stack.world.faults.forgotten.clear();
    const scan = scanOf(await stack.read(batch, { adsBefore: before }));
    expect(parameter('search_page_ids').at(-1)).toBe(`[${PAGE}]`);
    expect(scan.ads).toHaveLength(44);
    expect([completeOf(scan, PAGE), completeOf(scan, OTHER)]).toEqual([false, true]);
  });

  test('that is empty twice is complete', async () => {
    const batch = createTestBatch();
    await stack.read(batch, { adsBefore: before });
    stack.nowMs += HOUR_MS;
    const scan = scanOf(await stack.read(batch, { adsBefore: before }));
    expect(completeOf(scan, PAGE)).toBe(true);
  });

  test('that is empty once when the time is over is partial', async () => {
    const batch = createTestBatch();
    await stack.read(batch, { adsBefore: before });
    stack.nowMs = START_MS + 6 * HOUR_MS;
    expect(completeOf(scanOf(await stack.read(batch, { adsBefore: before })), PAGE)).toBe(false);
  });

  test('whose ads show the page id 0 is read alone, and is partial among others', async () => {
    stack.world.ads.push(...worldAds(PAGE, 20, 0));
    stack.world.faults.zeroPageIds = true;
    expect(scanOf(await stack.read(createTestBatch()))).toMatchObject({ ads: [], complete: false });
    const alone = scanOf(await stack.read(createTestBatch(), { pageIds: [PAGE] }));
    expect(alone).toMatchObject({ complete: true });
    expect(alone.ads).toHaveLength(20);
  });
});

describe('a list', () => {
  test('whose cursor comes twice ends there, and the scan is partial', async () => {
    stack.world.ads.push(...worldAds(PAGE, 600, 0));
    stack.world.faults.loops = true;
    const scan = scanOf(await stack.read(createTestBatch()));
    expect(scan).toMatchObject({ complete: false, detail: expect.stringContaining('a cursor came twice') });
    expect(stack.world.calls).toHaveLength(2);
  });

  test('that does not end within the time of a batch gives a partial scan of what was read', async () => {
    stack.world.ads.push(...worldAds(PAGE, 900, 0));
    const batch = createTestBatch();
    const scan = scanOf(await stack.read(batch, { endsMs: START_MS + 24 * SECOND_MS }));
    expect(scan.complete).toBe(false);
    expect(scan.ads).toHaveLength(500);
  });
});

describe('any answer', () => {
  const isStorable = (text: string): boolean => text.isWellFormed() && !text.includes('\0');

  test('has a kind, and texts that Postgres can store', () => {
    const text = fc.oneof(fc.string({ unit: 'binary' }), fc.constant(`\0${'a'.repeat(298)}😀`));
    const body = fc.oneof(
      fc.json(),
      fc.record({ error: fc.record({ code: fc.constantFrom(1, 4, 10, 100, 190, 'x'), message: text }) }),
      fc.record({
        data: fc.array(fc.jsonValue()),
        paging: fc.record({ cursors: fc.record({ after: text }) }),
      }),
    );
    fc.assert(
      fc.property(fc.constantFrom(200, 400, 429, 500), body, (status, value) => {
        const bytes = Buffer.from(typeof value === 'string' ? value : JSON.stringify(value));
        const answer = readArchiveAnswer(status, bytes, [TOKEN]);
        if (answer.kind === 'page') return isStorable(answer.after ?? '');
        return isStorable(answer.detail) && answer.detail.length <= 400;
      }),
      { numRuns: runs(500) },
    );
  });

  test.each(['a\0b', '\ud83d', 'x'.repeat(100_000)])('with the cursor %j is tried again', async (after) => {
    const body = { data: [], paging: { cursors: { after } } };
    expect(readArchiveAnswer(200, Buffer.from(JSON.stringify(body)), [])).toMatchObject({ kind: 'fault' });
  });

  test('about usage shuts the account for a day at most', async () => {
    stack.world.faults.next = [error(613, { regainMinutes: 1e300 })];
    expect(await stack.read(createTestBatch())).toMatchObject({ untilMs: stack.nowMs + 24 * HOUR_MS });
  });
});

describe('a reading that is stopped', () => {
  test('after any commit goes on there, and gives the same observations', async () => {
    for (const pageId of [PAGE, OTHER]) stack.world.ads.push(...worldAds(pageId, 300, Number(pageId)));
    stack.world.ads.push(...worldAds('10000003', 5, 7_000).map((ad) => ({ ...ad, stoppedOn: '2026-05-09' })));
    stack.world.faults.refused.add('10000004');
    stack.world.percentPerCall = 0;
    const pageIds = [PAGE, OTHER, '10000003', '10000004'];
    const adsBefore = new Map([['10000003', 9]]);
    const reading = { pageIds, adsBefore, stopsSince: new Date(START_MS) };
    const meta = { startedAt: new Date(START_MS), countries: ['DE', 'FR'] };
    const observed = (scan: ArchiveScan): string =>
      JSON.stringify(brandObservations(scan, { domain: 'a.example', pageIds }, meta));

    /** Reads to the end, or stops the reader after commit `stopAt`, from 1. */
    const readWithStop = async (stopAt: number) => {
      const batch = createTestBatch();
      let commits = 0;
      batch.committed = () => {
        commits += 1;
        if (commits === stopAt) throw new Error('stopped');
      };
      for (;;) {
        const outcome = await stack
          .read(batch, { ...reading, endsMs: Number.POSITIVE_INFINITY })
          .catch(() => null);
        if (outcome?.kind === 'read') return { commits, observations: observed(outcome.scan) };
        if (outcome?.kind === 'wait') stack.nowMs = outcome.untilMs ?? stack.nowMs;
      }
    };
    const whole = await readWithStop(0);
    expect(whole.commits).toBeGreaterThan(8);
    for (let stopAt = 1; stopAt <= whole.commits; stopAt += 1) {
      expect((await readWithStop(stopAt)).observations).toBe(whole.observations);
    }
  });
});
