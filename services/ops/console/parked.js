import { get, getPage, post, query } from './api-client.js';
import { badge, button, choice, confirmed, element, field, json, notify, pairs, row, table } from './dom.js';
import { filters, paginate } from './pagination.js';
import { count, moment, plural } from './format.js';

const PAGE_ITEMS = 50;
const COLUMNS = ['Stream', 'Projection', 'Event', 'Error', 'Waiting', 'Attempts', ''];

const showEvent = async (one, content) => {
  content.replaceChildren(element('p', { class: 'muted' }, 'Loading …'));
  try {
    const path = [one.projection, one.stream].map(encodeURIComponent).join('/');
    const parked = await get(`/ops/parked/${path}`);
    content.replaceChildren(
      pairs([
        ['Error', element('span', { class: 'bad' }, parked.error)],
        ['Parked', moment(parked.parked_at)],
        ['Last attempt', moment(parked.tried_at)],
        ['Position', parked.position],
        ['Waiting behind it', plural(parked.waiting, 'event')],
      ]),
      parked.fact === null ? element('p', {}, 'The log no longer contains this event.') : json(parked.fact),
    );
  } catch (error) {
    content.replaceChildren(element('p', { class: 'bad' }, error.message));
  }
};

const rowsOf = (one) => {
  const pending = element('span', {}, one.asked === null ? '' : badge(`${one.asked} requested`));
  const act = async (action, body, success) => {
    try {
      await post(`/ops/parked/${action}`, { projection: one.projection, ...body });
      pending.replaceChildren(badge(`${action} requested`));
      notify(success);
    } catch (error) {
      notify(error.message, 'bad');
    }
  };
  const retry = () => act('retry', { streams: [one.stream] }, `Retry of ${one.stream} requested.`);
  const skip = async () => {
    const question = `Exclude this ${one.type} of ${one.stream} from ${one.projection} for good, and apply the events waiting behind it?`;
    if (await confirmed(question, 'Skip it')) {
      await act('skip', { stream: one.stream }, `Skip of the event in ${one.projection} requested.`);
    }
  };
  const content = element('div', { class: 'cell' });
  const more = element(
    'tr',
    { class: 'more', hidden: true },
    element('td', { colspan: String(COLUMNS.length) }, content),
  );
  const toggle = button(
    one.stream,
    () => {
      more.hidden = !more.hidden;
      toggle.setAttribute('aria-expanded', String(!more.hidden));
      if (!more.hidden) void showEvent(one, content);
    },
    { class: 'link', 'aria-expanded': 'false' },
  );
  return [
    row(COLUMNS, [
      toggle,
      one.projection,
      one.type,
      element('span', { class: 'one-line', title: one.error }, one.error),
      count(one.waiting),
      `${plural(one.attempts, 'time')}, since ${moment(one.parked_at)}`,
      element(
        'div',
        { class: 'actions' },
        button('Retry', retry, { 'aria-label': `Retry ${one.stream}` }),
        button('Skip', skip, { class: 'quiet', 'aria-label': `Skip the event of ${one.stream}` }),
        pending,
      ),
    ]),
    more,
  ];
};

const retryAll = (projection) =>
  button(`Retry all of ${projection}`, async () => {
    try {
      const { streams_asked: streams } = await post('/ops/parked/retry', { projection, streams: 'all' });
      notify(`${plural(streams, 'stream')} of ${projection} will be retried.`);
    } catch (error) {
      notify(error.message, 'bad');
    }
  });

export const show = async ({ main, title, values, signal }) => {
  title('Parked events');
  const projection = values.get('projection');
  const names = element('div', {});
  const list = paginate(
    (cursor) => getPage(`/ops/parked${query({ projection, cursor, limit: PAGE_ITEMS })}`, signal),
    (items) => table('Parked events', COLUMNS, items.flatMap(rowsOf)),
    'No parked events.',
  );
  main.append(
    element(
      'p',
      { class: 'muted' },
      'An event that a projection cannot apply is parked, together with the later events of its stream. All other streams continue. Fix the code, then retry.',
    ),
    names,
    list.element,
  );
  await list.load();
  const all = await get('/ops/projections', signal);
  const options = all.map((one) => [
    one.name,
    one.parked === 0 ? one.name : `${one.name} (${count(one.parked)})`,
  ]);
  names.replaceChildren(
    filters('parked', [
      field('Projection', choice('projection', [['', 'All'], ...options], projection ?? '')),
    ]),
    projection === null ? '' : element('p', {}, retryAll(projection)),
  );
};
