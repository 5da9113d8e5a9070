import { badge, element } from './dom.js';
import { count, moment } from './format.js';

const keyText = (key) =>
  Object.entries(key)
    .map(([column, value]) => `${column}=${value ?? 'null'}`)
    .join(' ');

const formatDifference = ({ only_in: side, columns }) =>
  side === null ? `differs in ${columns.join(', ')}` : side === 'live' ? 'is unexpected' : 'is missing';

const tableOf = ({ table, live_rows: live, replayed_rows: replayed, first_keys: keys, groups }) => [
  element('h3', {}, table),
  element('p', {}, `${count(live)} rows live, ${count(replayed)} replayed`),
  groups === null
    ? null
    : element('p', {}, `Differs for ${count(groups.count)} ${groups.column}: ${groups.first.join(', ')}`),
  element(
    'ul',
    {},
    keys.map((key) => element('li', {}, element('code', {}, keyText(key.key)), ` ${formatDifference(key)}`)),
  ),
];

export const verificationReport = ({ state, report, error, finished_at: finishedAt }) => {
  const tone = state === 'passed' ? 'good' : state === 'cancelled' ? 'plain' : 'bad';
  const head = element('p', {}, badge(state, tone), ` ${moment(finishedAt)}`);
  if (report === null) return [head, error === null ? null : element('p', { class: 'bad' }, error)];
  const left = report.left_out === 0 ? '' : `, without ${count(report.left_out)} parked or skipped events`;
  return [
    head,
    element(
      'p',
      {},
      `${count(report.tables.length)} tables compared with a replay of ${count(report.facts)} events up to position ${report.position}${left}.`,
    ),
    ...report.tables.filter((one) => !one.is_equal).flatMap(tableOf),
  ];
};
