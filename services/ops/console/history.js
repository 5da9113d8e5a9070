import { download, get, getPage, query } from './api-client.js';
import { badge, button, choice, element, field, json, notify, row, table } from './dom.js';
import { filters, paginate } from './pagination.js';
import { count, moment } from './format.js';

const PAGE_ITEMS = 50;
const COLUMNS = ['Entry', 'Recorded', 'Event type', 'Actor', 'Resource', 'Request'];
const FILTERS = ['type', 'actor', 'resource', 'since', 'until'];

const rowsOf = (entry) => {
  const more = element(
    'tr',
    { class: 'more', hidden: true },
    element('td', { colspan: String(COLUMNS.length) }),
  );
  const toggle = button(
    String(entry.sequence),
    () => {
      more.hidden = !more.hidden;
      toggle.setAttribute('aria-expanded', String(!more.hidden));
      if (!more.hidden) more.firstChild.replaceChildren(element('div', { class: 'cell' }, json(entry)));
    },
    { class: 'link', 'aria-expanded': 'false', 'aria-label': `Entry ${entry.sequence}` },
  );
  return [
    row(COLUMNS, [
      toggle,
      moment(entry.recorded_at),
      entry.type,
      `${entry.actor.kind} ${entry.actor.id}`,
      `${entry.resource.category} ${entry.resource.id}`,
      entry.request_id,
    ]),
    more,
  ];
};

const chainPanel = (path, workspace, signal) => {
  const status = element('p', { class: 'muted' }, 'Each entry contains the hash of the previous entry.');
  const check = async () => {
    status.textContent = 'Checking …';
    try {
      const one = await get(`${path}/chain`, signal, null);
      status.replaceChildren(
        badge(one.intact ? 'intact' : `broken at entry ${count(one.broken_at)}`, one.intact ? 'good' : 'bad'),
        ` ${count(one.entries)} entries checked, the last of ${moment(one.last_recorded_at)}. Head hash `,
        element('code', {}, one.head_hash.slice(0, 16)),
        '…',
      );
    } catch (error) {
      status.textContent = error.message;
    }
  };
  const save = (format) => async () => {
    notify('Exporting …');
    try {
      await download(`${path}/export?format=${format}`, `history-${workspace}-${format}.tar`);
      notify('Export saved. Verify it: ops audit verify FOLDER --public-key FILE');
    } catch (error) {
      notify(error.message, 'bad');
    }
  };
  return element(
    'section',
    { class: 'panel', 'aria-label': 'Hash chain and export' },
    element('h2', {}, 'Hash chain'),
    status,
    element(
      'div',
      { class: 'actions' },
      button('Check chain', check),
      button('Export as NDJSON', save('ndjson')),
      button('Export as CSV', save('csv')),
    ),
  );
};

export const show = async ({ main, title, values, signal }) => {
  title('Histories');
  const workspaces = await get('/ops/workspaces', signal);
  const selected = Object.fromEntries(FILTERS.map((name) => [name, values.get(name) ?? '']));
  const workspace = values.get('workspace') ?? workspaces[0]?.workspace_id ?? '';
  const options = workspaces.map((one) => [one.workspace_id, `${one.name} (${one.workspace_id})`]);
  if (!options.some(([id]) => id === workspace)) options.unshift([workspace, workspace]);
  const text = (name, placeholder) => element('input', { name, value: selected[name], placeholder });
  main.append(
    filters('history', [
      field('Workspace', choice('workspace', options, workspace)),
      field('Event type', text('type', 'BrandTracked')),
      field('Actor', text('actor', 'member:mem_…')),
      field('Resource', text('resource', 'apiKeys')),
      field('Since', element('input', { name: 'since', type: 'date', value: selected.since })),
      field('Until', element('input', { name: 'until', type: 'date', value: selected.until })),
    ]),
  );
  if (workspace === '') {
    main.append(element('p', { class: 'muted' }, 'No workspaces yet.'));
    return;
  }
  const path = `/ops/workspaces/${encodeURIComponent(workspace)}/history`;
  const list = paginate(
    (cursor) => getPage(`${path}${query({ ...selected, cursor, limit: PAGE_ITEMS })}`, signal),
    (items) => table('Entries, newest first', COLUMNS, items.flatMap(rowsOf)),
    'No entries found.',
  );
  main.append(chainPanel(path, workspace, signal), list.element);
  await list.load();
};
