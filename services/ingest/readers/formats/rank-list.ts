import { utcDate } from '#contracts/values/time.ts';
import { RANK_MAX, SiteDomain } from '#contracts/observations/traffic-estimate.ts';
import { anotherHeader, brokenRow, type CsvRow, csvRows } from '../parsing/csv-rows.ts';
import { refusal } from '../record.ts';
import { type SideObservation, type SideReader, timeOrRefusal } from '../side-record.ts';

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
export const readRankList: SideReader = async function* (source, context) {
  let layout: Layout | null = null;
  let position = 0;
  const recordOf = (line: number, raw: string, rankText: string, domainText: string, row: CsvRow) => {
    position += 1;
    const rank = layout?.rank === null ? String(position) : rankText.trim();
    const domain = domainText.trim().toLowerCase();
    if (!isRank(rank))
      return refusal(
        { line, raw },
        `the rank ${JSON.stringify(rank)} is not a whole number from 1 to ${RANK_MAX}`,
        FIX_ROW,
      );
    if (!isDomain(domain))
      return refusal({ line, raw }, `${JSON.stringify(domain)} is not a domain`, FIX_ROW);
    const time = timeOrRefusal(context, { line, raw }, row);
    return typeof time === 'string'
      ? estimateOf(line, raw, { domain, rank: Number(rank), observedAt: time })
      : time;
  };
  for await (const item of csvRows(source)) {
    if (item.kind === 'broken') {
      yield brokenRow(item);
    } else if (item.kind === 'row') {
      if (layout === null) return;
      const { line, raw, row } = item;
      yield recordOf(line, raw, row[layout.rank ?? ''] ?? '', row[layout.domain] ?? '', row);
    } else {
      layout = rankLayoutOf(item.columns);
      if (layout === null) {
        yield anotherHeader(item.columns, ['rank or domain'], 'name the two columns rank and domain');
        return;
      }
      if (layout.hasHeader) yield { kind: 'header', raw: item.raw };
      else yield recordOf(1, item.raw, layout.rank ?? '', layout.domain, {});
    }
  }
};

const FIX_ROW = 'fix the row and import it again';

const estimateOf = (
  line: number,
  raw: string,
  entry: { readonly domain: string; readonly rank: number; readonly observedAt: string },
): SideObservation => ({
  kind: 'observation',
  line,
  raw,
  observation: {
    type: 'traffic.estimate',
    domain: entry.domain,
    observed_at: entry.observedAt,
    period: utcDate(entry.observedAt),
    provider: 'rank-list',
    monthly_visits: null,
    global_rank: entry.rank,
    category_rank: null,
    provider_category: null,
    countries: null,
    demographics: null,
    similar_sites: null,
  },
});
