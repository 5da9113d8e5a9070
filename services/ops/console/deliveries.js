import { get, getPage, post, query } from './api-client.js';
import { badge, button, choice, confirmed, element, field, json, notify, pairs, row, table } from './dom.js';
import { filters, paginate } from './pagination.js';
import { moment } from './format.js';

const PAGE_ITEMS = 50;
const COLUMNS = ['Queued', 'Status', 'Channel', 'Kind', 'Attempts', 'Next attempt', 'Workspace'];
const ATTEMPT_COLUMNS = ['Time', 'Event', 'Outcome', 'Failure', 'Response', 'Duration', 'Reason'];
const STATUSES = ['queued', 'retrying', 'delivered', 'failed', 'cancelled'];
const TONES = { delivered: 'good', failed: 'bad', retrying: 'warn' };

const statusBadge = (status) => badge(status, TONES[status]);

const rowOf = (one) =>
  row(COLUMNS, [
    element('a', { href: `#/deliveries/${one.delivery_id}` }, moment(one.queued_at)),
    statusBadge(one.status),
    one.channel,
    one.kind,
    String(one.attempts),
    moment(one.next_attempt_at),
    one.workspace_id,
  ]);

const responseCell = ({ answer, status_code: status }) => {
  if (answer === null || answer === '') return status === null ? '–' : String(status);
  return element(
    'details',
    {},
    element('summary', {}, String(status ?? 'response')),
    element('pre', { tabindex: '0' }, answer),
  );
};

const attemptRow = (entry) =>
  row(ATTEMPT_COLUMNS, [
    moment(entry.at),
    entry.type.replace(/^Delivery/, '') + (entry.attempt ? ` ${entry.attempt}` : ''),
    entry.outcome === null ? '–' : statusBadge(entry.outcome),
    entry.failure ?? '–',
    responseCell(entry),
    entry.duration_ms === null ? '–' : `${entry.duration_ms} ms`,
    entry.reason ?? '–',
  ]);

const showOne = async ({ main, title, id, signal }) => {
  title('Delivery');
  const content = element('div', {});
  main.append(element('p', {}, element('a', { href: '#/deliveries' }, '← All deliveries')), content);
  const act = async (action, success) => {
    try {
      const done = await post(`/ops/deliveries/${action}`, { ids: [id] });
      notify((done.replayed ?? done.cancelled) === 0 ? 'Nothing to do.' : success);
    } catch (error) {
      notify(error.message, 'bad');
    }
    await draw();
  };
  const replay = () => act('replay', 'Replay started.');
  const cancel = async () => {
    if (await confirmed('Cancel this delivery? No further attempts are made.', 'Cancel it'))
      await act('cancel', 'Delivery cancelled.');
  };
  const draw = async () => {
    const one = await get(`/ops/deliveries/${encodeURIComponent(id)}`, signal);
    const isOver = one.next_attempt_at === null;
    content.replaceChildren(
      element(
        'section',
        { class: 'panel', 'aria-label': 'Delivery' },
        pairs([
          ['Status', statusBadge(one.status)],
          ['Channel', `${one.channel}, ${one.kind}`],
          ['Queued', moment(one.queued_at)],
          ['Next attempt', moment(one.next_attempt_at)],
          ['Ended', moment(one.finished_at)],
          ['Workspace', element('a', { href: `#/history?workspace=${one.workspace_id}` }, one.workspace_id)],
          ['Rule', one.alert_id],
          ['Id', one.delivery_id],
        ]),
        element(
          'div',
          { class: 'actions' },
          isOver ? button('Replay', replay, { class: 'main' }) : button('Cancel', cancel),
        ),
      ),
      element('h2', {}, 'Events'),
      one.history.length === 0
        ? element('p', { class: 'muted' }, 'No events yet.')
        : table('Events of this delivery', ATTEMPT_COLUMNS, one.history.map(attemptRow)),
      element('h2', {}, 'Payload'),
      json(one.payload),
    );
  };
  await draw();
};

export const show = async ({ main, title, id, values, signal }) => {
  if (id !== null) return showOne({ main, title, id, signal });
  title('Deliveries');
  const [status, workspace, since] = ['status', 'workspace', 'since'].map((name) => values.get(name) ?? '');
  const list = paginate(
    (after) =>
      getPage(`/ops/deliveries${query({ status, workspace, since, after, limit: PAGE_ITEMS })}`, signal),
    (items) => table('Deliveries, newest first', COLUMNS, items.map(rowOf)),
    'No deliveries found.',
  );
  main.append(
    filters('deliveries', [
      field('Status', choice('status', [['', 'All'], ...STATUSES.map((name) => [name, name])], status)),
      field('Workspace', element('input', { name: 'workspace', value: workspace, placeholder: 'ws_…' })),
      field('Queued since', element('input', { name: 'since', type: 'date', value: since })),
    ]),
    list.element,
  );
  await list.load();
};
