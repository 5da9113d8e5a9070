import { expect, test } from 'vitest';
import { withBelievableDates } from '#contracts/observations/ad-dates.ts';
import { AdLibraryScanChunk } from '#contracts/observations/ad-library-scan.ts';
import { countShortened } from '#services/ingest/intake/count-shortened.ts';
import { ad } from '#tests/dsl/scans.ts';
import { scanOf } from '../../ingest/fixtures/scan-messages.ts';

const AT = '2026-05-01T08:00:00Z';
const read = (started_on: string | null, stopped_on: string | null) => {
  const { ad: dated, notes } = withBelievableDates({ started_on, stopped_on }, AT);
  return [dated.started_on, dated.stopped_on, ...notes];
};

test('dates after the scan are unknown, but for a day of time zones', () => {
  expect(read('2026-05-02', '2026-05-02')).toEqual(['2026-05-02', '2026-05-02']);
  expect(read('2026-05-03', '2026-05-03')).toEqual([
    null,
    null,
    'start date in the future',
    'stop date in the future',
  ]);
});

test('a start before the first ads of the network is unknown, and a stop before the library existed', () => {
  expect(read('2007-11-06', '2018-05-07')).toEqual(['2007-11-06', '2018-05-07']);
  expect(read('1970-01-01', null)).toEqual([null, null, 'start date before the first ads of the network']);
  expect(read('2017-01-01', '2018-05-06')).toEqual([
    '2017-01-01',
    null,
    'stop date before the library existed',
  ]);
  expect(read(null, null)).toEqual([null, null]);
});

test('a stop before its start is unknown', () => {
  expect(read('2026-03-02', '2026-03-02')).toEqual(['2026-03-02', '2026-03-02']);
  expect(read('2026-03-02', '2026-03-01')).toEqual(['2026-03-02', null, 'stop date before the start date']);
  expect(read('2031-01-01', '2026-03-01')).toEqual([null, '2026-03-01', 'start date in the future']);
});

test('an observation of any sender loses such dates, which are counted', () => {
  const { chunks } = scanOf('late.example', AT, [
    ad('1', { started_on: '2031-01-01', stopped_on: '2032-01-01' }),
    ad('2', { started_on: '0001-01-01' }),
    ad('3', { started_on: '2026-01-01' }),
  ]);
  const [stored] = chunks.map((chunk) => AdLibraryScanChunk.parse(chunk));
  expect(stored?.ads.map(({ started_on }) => started_on)).toEqual([null, null, '2026-01-01']);
  expect(countShortened(chunks[0], stored)).toEqual({ texts: 0, urls: 0, entries: 0, dates: 3 });
  expect(AdLibraryScanChunk.parse(stored)).toEqual(stored);
});

test('an observation without a valid time is refused', () => {
  const { chunks } = scanOf('late.example', AT, [ad('1')]);
  expect(AdLibraryScanChunk.safeParse({ ...chunks[0], scanned_at: 'soon' }).success).toBe(false);
});
