import { getPage, query } from './api-client.js';
import { element, row, table } from './dom.js';
import { paginate } from './pagination.js';
import { count, moment } from './format.js';

const PAGE_ITEMS = 50;
const COLUMNS = ['Stream', 'Event', 'Schema version', 'Waiting', 'Since'];

const rowOf = ({ stream, type, version, waiting, since }) =>
  row(COLUMNS, [stream, type, version, count(waiting), moment(since)]);

export const show = async ({ main, title, signal }) => {
  title('Waiting streams');
  const list = paginate(
    (cursor) => getPage(`/ops/alerts/waiting${query({ cursor, limit: PAGE_ITEMS })}`, signal),
    (items) => table('Waiting streams', COLUMNS, items.map(rowOf)),
    'No waiting streams.',
  );
  main.append(
    element(
      'p',
      { class: 'muted' },
      'Alert rules do not fire on the events of these streams, because this release cannot read the first of them. All other streams continue. Deploy the release that recorded the event.',
    ),
    list.element,
  );
  await list.load();
};
