import { get, getPage, post, query } from './api-client.js';
import { badge, button, choice, confirmed, element, field, json, pairs, row, say, table } from './dom.js';
import { filters, pages } from './pagination.js';
import { moment } from './format.js';

/** What alert rules sent, each with its attempts, and another round or an end to it. */

const PAGE_ITEMS = 50;
const COLUMNS = ['Queued', 'Status', 'Channel', 'Kind', 'Attempts', 'Next attempt', 'Workspace'];
const ATTEMPT_COLUMNS = ['At', 'What', 'Outcome', 'Class', 'Answer', 'Took', 'Reason'];
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

const answerOf = ({ answer, status_code: status }) => {
  if (answer === null || answer === '') return status === null ? '–' : String(status);
  return element(
    'details',
    {},
    element('summary', {}, String(status ?? 'answer')),
    element('pre', { tabindex: '0' }, answer),
  );
};

const attemptRow = (entry) =>
  row(ATTEMPT_COLUMNS, [
    moment(entry.at),
    entry.type.replace(/^Delivery/, '') + (entry.attempt ? ` ${entry.attempt}` : ''),
    entry.outcome === null ? '–' : statusBadge(entry.outcome),
    entry.failure ?? '–',
    answerOf(entry),
    entry.duration_ms === null ? '–' : `${entry.duration_ms} ms`,
    entry.reason ?? '–',
  ]);

const showOne = async ({ main, title, id, signal }) => {
  title('Delivery');
  const place = element('div', {});
  main.append(element('p', {}, element('a', { href: '#/deliveries' }, '← All deliveries')), place);
  const act = async (what, said) => {
    try {
      const done = await post(`/ops/deliveries/${what}`, { ids: [id] });
      say((done.replayed ?? done.cancelled) === 0 ? 'Nothing was to be done.' : said);
    } catch (error) {
      say(error.message, 'bad');
    }
    await draw();
  };
  const replay = () => act('replay', 'Another round of attempts begins.');
  const cancel = async () => {
    if (await confirmed('Send nothing more of this delivery?', 'Cancel it'))
      await act('cancel', 'It was cancelled.');
  };
  const draw = async () => {
    const one = await get(`/ops/deliveries/${encodeURIComponent(id)}`, signal);
    const isOver = one.next_attempt_at === null;
    place.replaceChildren(
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
      element('h2', {}, 'What happened'),
      one.history.length === 0
        ? element('p', { class: 'muted' }, 'Nothing yet.')
        : table('What happened to this delivery', ATTEMPT_COLUMNS, one.history.map(attemptRow)),
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
  const list = pages(
    (after) =>
      getPage(`/ops/deliveries${query({ status, workspace, since, after, limit: PAGE_ITEMS })}`, signal),
    (items) => table('Deliveries, newest first', COLUMNS, items.map(rowOf)),
    'There are no such deliveries.',
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
