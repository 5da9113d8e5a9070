import { describe, expect, it } from 'vitest';
import { type DayScan, type LinkPeriod, reliableScans } from '#domain/corpus/ad-library/reliability.ts';

/** Brand of scans that were made for several brands (rule 9). */

const BRAND = 'brand';
const linked = (...pages: readonly string[]): readonly LinkPeriod[] =>
  pages.map((page_id) => ({ page_id, from: '', until: null }));

const scan = (time: string, scanned_for: string, ...pages: readonly string[]): DayScan => ({
  scan_id: time,
  observed_at: `2026-05-01T${time}:00.000Z`,
  scanned_for,
  pageIds: new Set(pages),
});

const reliable = (links: readonly LinkPeriod[], ...scans: readonly DayScan[]): readonly string[] =>
  [...reliableScans(BRAND, links, scans)].flatMap(([id, isReliable]) => (isReliable ? [id] : []));

describe('a complete scan for another brand', () => {
  it('that names no page of the brand is not reliable, also on a day that is reliable already', () => {
    const own = scan('07:00', BRAND, 'P1');
    expect(reliable(linked('P1'), own, scan('10:00', 'other', 'P2'))).toEqual(['07:00']);
    expect(reliable([], own, scan('10:00', 'other', 'P1'))).toEqual(['07:00']);
  });

  it('that names a linked page is reliable once all linked pages are covered', () => {
    const scans = [scan('07:00', 'other', 'P1'), scan('10:00', 'other', 'P2'), scan('11:00', 'other', 'P1')];
    expect(reliable(linked('P1', 'P2'), ...scans)).toEqual(['10:00', '11:00']);
  });

  it('that covers what an earlier look lacked makes the day reliable, also after the link of its page ended', () => {
    const links = [...linked('P1'), { page_id: 'P2', from: '', until: '2026-05-01T09:00:00.000Z' }];
    const covering = [scan('07:00', 'other', 'P1'), scan('10:00', 'other', 'P2'), scan('11:00', BRAND, 'P3')];
    expect(reliable(links, ...covering)).toEqual(['10:00', '11:00']);
    expect(reliable(links, ...covering, scan('12:00', 'other', 'P3'))).toEqual(['10:00', '11:00']);
  });
});
