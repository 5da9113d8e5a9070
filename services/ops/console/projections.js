import { get } from './api-client.js';
import { element, row, table } from './dom.js';
import { sparkline } from './lag-chart.js';
import { show as showOne } from './projection.js';
import { poll } from './polling.js';
import { count, lagText, rate, stateBadges } from './format.js';

const POLL_EVERY_MS = 5_000;
/** Polls per load of the lag charts, which change slowly. */
const POLLS_PER_CHART = 6;
const COLUMNS = ['Projection', 'State', 'Lag', 'Last hour', 'Rate', 'Parked', 'Version'];
const parkedLink = ({ name, parked }) =>
  parked === 0
    ? '0'
    : element('a', { class: 'bad', href: `#/parked?projection=${encodeURIComponent(name)}` }, count(parked));

const cellsOf = (one, series) => [
  element('a', { href: `#/projections/${encodeURIComponent(one.name)}` }, one.name),
  stateBadges(one),
  lagText(one),
  sparkline(series),
  rate(one.rate_per_second),
  parkedLink(one),
  one.code_version === one.version || one.code_version === null
    ? String(one.version)
    : `${one.version}, code has ${one.code_version}`,
];

const summaryOf = (all) => {
  const parked = all.reduce((sum, one) => sum + one.parked, 0);
  const late = all.filter((one) => one.lag_facts > 0).length;
  const parts = [
    `${count(all.length)} projections`,
    late === 0 ? 'none behind' : `${count(late)} behind`,
    parked === 0 ? 'no parked events' : `${count(parked)} events parked`,
  ];
  return parts.join(', ');
};

export const show = async ({ main, title, id, ...page }) => {
  if (id !== null) return showOne({ main, title, id, ...page });
  title('Projections');
  const summary = element('p', { class: 'muted' }, 'Loading …');
  const body = table('Projections', COLUMNS, [], 'compact');
  main.append(summary, body);
  let series = new Map();
  let polls = 0;
  let focused = null;
  await poll(
    async () => {
      const isChartDue = polls % POLLS_PER_CHART === 0;
      polls += 1;
      const [all, lags] = await Promise.all([
        get('/ops/projections', page.signal),
        isChartDue ? get('/ops/projections/lag', page.signal) : null,
      ]);
      if (lags) series = new Map(lags.map((one) => [one.projection, one]));
      summary.textContent = summaryOf(all);
      // Keeps the focus on the same link across the redraw.
      focused = document.activeElement?.closest('tbody') ? document.activeElement.getAttribute('href') : null;
      body
        .querySelector('tbody')
        .replaceChildren(
          ...all.map((one) => row(COLUMNS, cellsOf(one, series.get(one.name) ?? { at: [], lag_facts: [] }))),
        );
      if (focused)
        [...body.querySelectorAll('tbody a')].find((link) => link.getAttribute('href') === focused)?.focus();
    },
    POLL_EVERY_MS,
    page.signal,
  );
};
