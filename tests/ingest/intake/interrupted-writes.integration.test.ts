import { brandProfile } from '#tests/dsl/site-events.ts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type AdLibraryEvent, adLibraryStream } from '#contracts/events/corpus/ad-library.ts';
import { brandIdOf } from '#domain/ids.ts';
import { type Database, openPool } from '#platform/postgres/pool.ts';
import { openIntake } from '#services/ingest/intake/observation-handler.ts';
import { ad } from '#tests/dsl/scans.ts';
import { type IntakeStack, openIntakeStack } from '../fixtures/intake-stack.ts';
import { scanOf } from '../fixtures/scan-messages.ts';

/** Ends connections by a trigger between an append and a table, as a restart of the server does. */

let stack: IntakeStack;
let database: Database;
beforeAll(async () => {
  stack = await openIntakeStack();
  database = openPool(stack.databaseUrl, 2);
  await database.query(`
    create sequence writes_left increment -1 minvalue -1000000 maxvalue 1000;
    create function end_connection() returns trigger language plpgsql as $$
    begin
      if nextval('writes_left') <= 0 then perform pg_terminate_backend(pg_backend_pid()); end if;
      return null;
    end $$`);
});
afterAll(async () => {
  await database.end();
  await stack[Symbol.asyncDispose]();
});

/** Makes a write fail. No other write may take the failing one, or write the table first. */
const failingWrites = async (table: string, work: () => Promise<unknown>, after = 0): Promise<void> => {
  await database.query('select setval($1, $2, false)', ['writes_left', after]);
  await database.query(
    `create trigger ends before insert or update on ingest.${table} for each statement execute function end_connection()`,
  );
  try {
    await expect(work()).rejects.toThrow('terminating connection');
  } finally {
    await database.query(`drop trigger ends on ingest.${table}`);
  }
};

const TIME = '2026-05-02T10:00:00.000Z';

const link = (domain: string, page_id: string, observed_at: string, linked = true) => ({
  type: 'social_page.link',
  brand_domain: domain,
  page_id,
  page_name: null,
  observed_at,
  role: 'OFFICIAL',
  confidence: 0.9,
  linked,
});

const profile = (domain: string) =>
  brandProfile({ domain, observed_at: '2026-05-01T00:00:00Z', name: domain });

const eventsOf = async (domain: string): Promise<readonly AdLibraryEvent[]> => {
  const events: AdLibraryEvent[] = [];
  const stream = adLibraryStream(brandIdOf(domain));
  for await (const event of stack.eventStore.read<AdLibraryEvent>(stream)) events.push(event);
  return events;
};

const started = async (domain: string): Promise<readonly string[]> =>
  (await eventsOf(domain)).flatMap((event) => (event.type === 'AdStarted' ? [event.data.ad_id] : []));

const submitScan = async (...args: Parameters<typeof scanOf>): Promise<void> => {
  const { chunks, end } = scanOf(...args);
  for (const chunk of chunks) await stack.intake.submit(chunk);
  await stack.intake.submit(end);
};

describe('tables whose write fails after the append', () => {
  it('have a link of a page before the next scan is attributed, also without a repetition of the link', async () => {
    const page_id = '510000001';
    const observation = link('owner.example', page_id, TIME);
    await failingWrites('page_link', () => stack.intake.submit(observation));
    await submitScan(
      'scanned.example',
      '2026-05-03T10:00:00.000Z',
      [ad('511', { page_id, link_url: null })],
      {
        pages: [page_id],
      },
    );
    expect(await started('owner.example')).toEqual([ad('511').ad_id]);
  });

  it('have a link when its observation is repeated, and correct the days that it changes', async () => {
    const [own, other] = ['520000001', '520000002'];
    await submitScan('corrected.example', '2026-05-03T10:00:00.000Z', [], { pages: [own] });
    await submitScan('corrected.example', '2026-05-03T12:00:00.000Z', [], { pages: [other] });
    const observation = link('corrected.example', other, TIME);
    await failingWrites('page_link', () => stack.intake.submit(observation));
    await stack.intake.submit(observation);
    const corrected = (await eventsOf('corrected.example')).filter(({ type }) => type === 'ScanCorrected');
    expect(corrected.length).toBeGreaterThan(0);
    expect((await stack.intake.submit(observation)).events, 'repeated once more').toBe(0);
  });

  it('have the brand of a link when its observation is repeated', async () => {
    const observation = link('named.example', '520000003', TIME);
    await failingWrites('brand', () => stack.intake.submit(observation));
    await stack.intake.submit(observation);
    expect(await stack.intake.isBrandRegistered('named.example')).toBe(true);
    expect((await stack.intake.submit(observation)).events, 'repeated once more').toBe(0);
  });

  it('have a brand before the next scan is attributed', async () => {
    const domain = 'registered.example';
    await failingWrites('brand', () => stack.intake.submit(profile(domain)));
    await submitScan('of-another.example', TIME, [
      ad('531', { page_id: null, link_url: `https://${domain}/` }),
    ]);
    expect(await started(domain)).toEqual([ad('531').ad_id]);
  });

  it('include a scan before a scan of another brand on the same page is decided', async () => {
    const page_id = '540000001';
    const shown = ad('541', { page_id, link_url: 'https://first.example/', started_on: '2026-01-01' });
    const first = scanOf('first.example', TIME, [shown], { pages: [page_id] });
    for (const chunk of first.chunks) await stack.intake.submit(chunk);
    await failingWrites('scan', () => stack.intake.submit(first.end));
    expect(await started('first.example')).toHaveLength(1);
    const later = { page_id, link_url: 'https://second.example/', started_on: '2026-05-03' };
    await submitScan('second.example', '2026-05-04T10:00:00.000Z', [ad('542', later)], {
      pages: [page_id],
    });
    const [start] = (await eventsOf('second.example')).filter(({ type }) => type === 'AdStarted');
    expect(start?.data, 'the first scan was the baseline of the page').toMatchObject({ novelty: 'news' });
    await stack.intake.submit(first.end);
    expect(await started('first.example')).toEqual([shown.ad_id]);
  });

  it.each([
    ['a late scan', 1, 0],
    ['a late scan', 2, 1],
    ['a late scan', 3, 2],
    ['the late registration of a domain', 4, 0],
    ['the late registration of a domain', 5, 1],
    ['the late registration of a domain', 6, 2],
  ])(
    'record %s once at a brand at which it alone makes other scans count (%i)',
    async (cause, number, after) => {
      const day = (ofMonth: number): string => `2026-05-0${ofMonth}T10:00:00.000Z`;
      const isScan = cause === 'a late scan';
      const record = async (name: string, page: string, isCut: boolean) => {
        const [from, to] = [`from-${name}.example`, `to-${name}.example`];
        const leading = ad(`${page}1`, { page_id: page, link_url: `https://${to}/` });
        const blank = { ...leading, link_url: null, body: 'Other words' };
        const registration = { ...profile(to), observed_at: day(3) };
        const late = scanOf(from, day(2), [leading], { pages: [page], complete: false });
        await stack.intake.submit(profile(from));
        if (isScan) await stack.intake.submit(registration);
        else for (const message of [...late.chunks, late.end]) await stack.intake.submit(message);
        await submitScan(from, day(4), [blank], { pages: [], complete: false });
        if (isScan) for (const chunk of late.chunks) await stack.intake.submit(chunk);
        const last = isScan ? late.end : registration;
        if (isCut) await failingWrites('recorded_scan', () => stack.intake.submit(last), after);
        await stack.intake.submit(last);
        return [...(await eventsOf(from)), ...(await eventsOf(to))].flatMap(({ type, data }) =>
          'totals' in data ? [{ type, from: data.brand_id === brandIdOf(from), ...data.totals }] : [],
        );
      };
      const whole = await record(`once-${number}`, `5700000${number}`, false);
      const cut = await record(`twice-${number}`, `5800000${number}`, true);
      expect(whole.filter((one) => !one.from)).not.toEqual([]);
      expect(cut).toEqual(whole);
    },
  );

  it.each([
    ['ad', 1],
    ['recorded_scan', 2],
    ['ad_move', 3],
    ['scan', 4],
  ])('record a late scan that moves an ad once, also when table %s is not written', async (table, number) => {
    const day = (ofMonth: number): string => `2026-05-0${ofMonth}T10:00:00.000Z`;
    const record = async (name: string, page: string, submitLate: (end: object) => Promise<unknown>) => {
      const [from, to] = [`from-${name}.example`, `to-${name}.example`];
      const fields = { page_id: page, link_url: `https://${from}/` };
      const [one, two] = [ad(`${page}1`, fields), ad(`${page}2`, fields)];
      for (const domain of [from, to]) await stack.intake.submit(profile(domain));
      await submitScan(from, day(2), [one, two], { pages: [page] });
      await submitScan(from, day(9), [two], { pages: [page] });
      const late = scanOf(from, day(5), [{ ...one, link_url: `https://${to}/` }, two], { pages: [page] });
      for (const chunk of late.chunks) await stack.intake.submit(chunk);
      await submitLate(late.end);
      const recorded = [...(await eventsOf(from)), ...(await eventsOf(to))];
      const told = recorded.map(({ type, data }) => [
        type,
        data.brand_id === brandIdOf(from) ? 'from' : 'to',
        data.observed_at,
        'ad_id' in data ? data.ad_id.replace(page, '') : null,
        'totals' in data ? data.totals : null,
      ]);
      return told;
    };
    const uninterrupted = await record(`whole-${number}`, `5500000${number}`, (end) =>
      stack.intake.submit(end),
    );
    const interrupted = await record(`cut-${number}`, `5600000${number}`, async (end) => {
      await failingWrites(table, () => stack.intake.submit(end));
      await stack.intake.submit(end);
    });
    expect(interrupted.map(([type]) => type)).toContain('AdAttributed');
    expect(interrupted).toEqual(uninterrupted);
  });

  it('are the same as those that are folded from the log', async () => {
    const contents = async () => {
      const tables: Record<string, unknown> = {};
      for (const table of [
        'brand',
        'linked_page',
        'page_link',
        'folded_page',
        'library',
        'ad',
        'recorded_scan',
      ]) {
        // The log does not tell how a scan showed an ad that it did not change.
        const { rows } = await database.query<{ row: unknown }>(
          `select to_jsonb(t) - 'shown' as row from ingest.${table} t order by (to_jsonb(t) - 'shown')::text`,
        );
        tables[table] = rows;
      }
      return tables;
    };
    const live = await contents();
    await database.query('drop schema ingest cascade');
    await (await openIntake(stack))[Symbol.asyncDispose]();
    expect(await contents()).toEqual(live);
  });

  it('are not written twice by a process that starts while a link ends', async () => {
    const page_id = '550000001';
    await stack.intake.submit(link('ended.example', page_id, TIME));
    await stack.intake.submit(link('ended.example', page_id, '2026-05-03T10:00:00.000Z', false));
    const linkedPages = () =>
      database.query('select from ingest.linked_page where social_page_id = $1', [page_id]);
    await database.query('create table public.written (linked text)');
    await database.query(`
      create function public.note() returns trigger language plpgsql as $$
      begin insert into public.written values (new.social_page_id); return new; end $$`);
    await database.query(
      'create trigger notes before insert on ingest.linked_page for each row execute function public.note()',
    );
    await (await openIntake(stack))[Symbol.asyncDispose]();
    expect((await linkedPages()).rows).toEqual([]);
    expect((await database.query('select from public.written')).rows).toEqual([]);
  });
});
