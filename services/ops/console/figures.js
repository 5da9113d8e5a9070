import { get } from './api-client.js';
import { element, row, table } from './dom.js';
import { count, moment, plural } from './format.js';

const COLUMNS = ['Rule', 'State', 'Violations', 'First violation', 'Next step'];
const STATES = { violated: 'violated', not_checked: 'not checked', left_out: 'left out', holds: 'holds' };
const ORDER = Object.keys(STATES);

const violationOf = ({ figures, first: [violation] }) => {
  if (violation === undefined) return '–';
  const { brand_id, key, one, other } = violation;
  const where = [brand_id, key].filter((part) => part !== null && part !== '').join(' ');
  return `${where}: ${figures[0]} ${one}, ${figures[1]} ${other}`;
};

const rowOf = (rule) =>
  row(COLUMNS, [
    rule.rule,
    STATES[rule.state],
    count(rule.violations),
    rule.reason ?? violationOf(rule),
    rule.state === 'violated' ? rule.remedy : '–',
  ]);

export const show = async ({ main, title, signal }) => {
  title('Figures');
  const last = await get('/ops/figures', signal);
  const report = last?.report ?? null;
  main.append(
    element(
      'p',
      { class: 'muted' },
      'Each night the worker checks the figures of all brands against each other. `ops verify` does it now.',
    ),
  );
  if (last?.error) main.append(element('p', { class: 'bad' }, `The last check failed: ${last.error}`));
  if (report === null) {
    main.append(element('p', {}, 'No figures were verified yet.'));
    return;
  }
  const rules = report.invariants.toSorted((a, b) => ORDER.indexOf(a.state) - ORDER.indexOf(b.state));
  const left = report.left_out > 0 ? ` ${plural(report.left_out, 'brand')} with parked events left out.` : '';
  main.append(
    element('p', {}, `Verified ${moment(last.verified_at)}.${left}`),
    table('Rules', COLUMNS, rules.map(rowOf)),
  );
};
