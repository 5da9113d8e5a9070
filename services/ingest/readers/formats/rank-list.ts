import type { Observation } from '#contracts/observations/index.ts';
import { utcDate } from '#contracts/values/time.ts';
import { RANK_MAX, SiteDomain } from '#contracts/observations/traffic-estimate.ts';
import { anotherHeader, brokenRow, type CsvRow, csvRows } from '../parsing/csv-rows.ts';
import { RecordFault, recordOrRefusal } from '../record.ts';
import { ownScanTime, scanTimeOf } from '../scan-key.ts';
import type { SideReader } from '../side-record.ts';

const RANK_COLUMNS = ['globalrank', 'rank', 'position'];
const DOMAIN_COLUMNS = ['domain', 'rootdomain', 'host', 'hostname', 'site'];

const isDomain = (text: string): boolean => SiteDomain.safeParse(text).success;
const isRank = (text: string): boolean => /^[1-9][0-9]{0,9}$/.test(text) && Number(text) <= RANK_MAX;

type Layout = { readonly rank: string | null; readonly domain: string; readonly hasHeader: boolean };

/** `null` for another layout. Without a header, the first row's values are the column names. */
export const rankLayoutOf = (columns: readonly string[]): Layout | null => {
  const named = (names: readonly string[]): string | undefined =>
    names.flatMap(
      (name) => columns.find((column) => column.toLowerCase().replaceAll(/[\s_-]/g, '') === name) ?? [],
    )[0];
  const [rank, domain] = [named(RANK_COLUMNS), named(DOMAIN_COLUMNS)];
  if (rank !== undefined && domain !== undefined) return { rank, domain, hasHeader: true };
  const [first = '', second = ''] = columns;
  if (columns.length === 1 && isDomain(first)) return { rank: null, domain: first, hasHeader: false };
  if (columns.length === 2 && isRank(first) && isDomain(second))
    return { rank: first, domain: second, hasHeader: false };
  return null;
};

/** Each row becomes a traffic estimate for the day of the list. A list of domains alone is in the order of rank. */
export const readRankList: SideReader = async function* (source, { times }) {
  let layout: Layout | null = null;
  let position = 0;
  const recordOf = (line: number, raw: string, row: CsvRow, columns: Layout) => {
    position += 1;
    return recordOrRefusal({ line, raw }, () => {
      const rank = columns.rank === null ? String(position) : (row[columns.rank] ?? '').trim();
      const domain = (row[columns.domain] ?? '').trim().toLowerCase();
      const what = isRank(rank)
        ? isDomain(domain) || `${JSON.stringify(domain)} is not a domain`
        : `the rank ${JSON.stringify(rank)} is not a whole number from 1 to ${RANK_MAX}`;
      if (typeof what === 'string') throw new RecordFault(what, 'fix the row and import it again');
      const time = scanTimeOf(times, ownScanTime(row));
      return { kind: 'observation' as const, line, raw, observation: estimateOf(domain, Number(rank), time) };
    });
  };
  for await (const item of csvRows(source)) {
    if (item.kind === 'broken') {
      yield brokenRow(item);
    } else if (item.kind === 'row') {
      if (layout === null) return;
      yield recordOf(item.line, item.raw, item.row, layout);
    } else {
      layout = rankLayoutOf(item.columns);
      if (layout === null) {
        yield anotherHeader(item.columns, ['rank or domain'], 'name the two columns rank and domain');
        return;
      }
      yield layout.hasHeader
        ? { kind: 'header', raw: item.raw }
        : recordOf(1, item.raw, Object.fromEntries(item.columns.map((name) => [name, name])), layout);
    }
  }
};

const estimateOf = (domain: string, rank: number, observedAt: string): Observation => ({
  type: 'traffic.estimate',
  domain,
  observed_at: observedAt,
  period: utcDate(observedAt),
  provider: 'rank-list',
  monthly_visits: null,
  global_rank: rank,
  category_rank: null,
  provider_category: null,
  countries: null,
  demographics: null,
  similar_sites: null,
});
