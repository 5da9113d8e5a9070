import { get, getPage, post, query } from './api-client.js';
import { badge, button, choice, confirmed, element, field, json, pairs, row, say, table } from './dom.js';
import { filters, pages } from './pagination.js';
import { count, moment, plural } from './format.js';

/** Events that a projection could not apply, and what waits behind each of them. */

const PAGE_ITEMS = 50;
const COLUMNS = ['Stream', 'Projection', 'Event', 'Error', 'Waiting', 'Tried', ''];

const showEvent = async (one, place) => {
  place.replaceChildren(element('p', { class: 'muted' }, 'Reading …'));
  try {
    const path = [one.projection, one.stream].map(encodeURIComponent).join('/');
    const whole = await get(`/ops/parked/${path}`);
    place.replaceChildren(
      pairs([
        ['Error', element('span', { class: 'bad' }, whole.error)],
        ['Parked', moment(whole.parked_at)],
        ['Last tried', moment(whole.tried_at)],
        ['Position', whole.position],
        ['Waiting behind it', plural(whole.waiting, 'event')],
      ]),
      whole.fact === null ? element('p', {}, 'The log does not have this event any more.') : json(whole.fact),
    );
  } catch (error) {
    place.replaceChildren(element('p', { class: 'bad' }, error.message));
  }
};

const rowsOf = (one) => {
  const asked = element('span', {}, one.asked === null ? '' : badge(`${one.asked} asked for`));
  const act = async (what, body, said) => {
    try {
      await post(`/ops/parked/${what}`, { projection: one.projection, ...body });
      asked.replaceChildren(badge(`${what} asked for`));
      say(said);
    } catch (error) {
      say(error.message, 'bad');
    }
  };
  const retry = () => act('retry', { streams: [one.stream] }, `${one.stream} is tried again.`);
  const skip = async () => {
    const question = `Leave this ${one.type} of ${one.stream} out of ${one.projection} for good, and apply what waits behind it?`;
    if (await confirmed(question, 'Leave it out')) {
      await act('skip', { stream: one.stream }, `The event is left out of ${one.projection}.`);
    }
  };
  const place = element('div', { class: 'cell' });
  const more = element(
    'tr',
    { class: 'more', hidden: true },
    element('td', { colspan: String(COLUMNS.length) }, place),
  );
  const toggle = button(
    one.stream,
    () => {
      more.hidden = !more.hidden;
      toggle.setAttribute('aria-expanded', String(!more.hidden));
      if (!more.hidden) void showEvent(one, place);
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
        asked,
      ),
    ]),
    more,
  ];
};

const retryAll = (projection) =>
  button(`Retry all of ${projection}`, async () => {
    try {
      const { streams_asked: asked } = await post('/ops/parked/retry', { projection, streams: 'all' });
      say(`${plural(asked, 'stream')} of ${projection} are tried again.`);
    } catch (error) {
      say(error.message, 'bad');
    }
  });

export const show = async ({ main, title, values, signal }) => {
  title('Parked events');
  const projection = values.get('projection');
  const names = element('div', {});
  const list = pages(
    (cursor) => getPage(`/ops/parked${query({ projection, cursor, limit: PAGE_ITEMS })}`, signal),
    (items) => table('Parked events', COLUMNS, items.flatMap(rowsOf)),
    'Nothing is parked.',
  );
  main.append(
    element(
      'p',
      { class: 'muted' },
      'An event that a projection cannot apply is set aside with the later ones of its stream; everything else goes on. Mend the code, then retry.',
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
