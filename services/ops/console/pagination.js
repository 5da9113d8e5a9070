import { button, element } from './dom.js';

/**
 * A list that is asked for page by page and holds one page at a time: ten thousand entries cost what fifty do.
 * `read(cursor)` answers `{ items, cursor }`; `draw(items)` answers elements.
 */
export const pages = (read, draw, nothing) => {
  const body = element('div', { 'aria-live': 'off' }, element('p', { class: 'muted' }, 'Reading …'));
  const where = element('span', { class: 'muted', role: 'status' });
  const cursors = [null];
  let next = null;
  let isTurning = false;
  const load = async () => {
    const found = await read(cursors.at(-1));
    next = found.cursor;
    body.replaceChildren(
      found.items.length === 0 ? element('p', { class: 'muted' }, nothing) : draw(found.items),
    );
    back.disabled = cursors.length === 1;
    forth.disabled = next === null;
    bar.hidden = cursors.length === 1 && next === null;
    where.textContent = `Page ${cursors.length}`;
  };
  /** A page that does not come leaves the one before it, and pressing twice turns once. */
  const turn = async (to) => {
    if (isTurning) return;
    isTurning = true;
    const from = [...cursors];
    cursors.splice(0, cursors.length, ...to);
    try {
      await load();
    } catch (error) {
      cursors.splice(0, cursors.length, ...from);
      throw error;
    } finally {
      isTurning = false;
    }
    body.scrollIntoView({ block: 'nearest' });
  };
  const back = button('Previous', () => turn(cursors.slice(0, -1)));
  const forth = button('Next', () => turn([...cursors, next]));
  const bar = element('nav', { class: 'actions', 'aria-label': 'Pages', hidden: true }, back, where, forth);
  return { element: element('div', {}, body, bar), load };
};

/** A row of fields whose values are the address, so that it can be kept and sent. */
export const filters = (name, fields) => {
  const form = element(
    'form',
    {
      class: 'filters panel',
      'aria-label': 'Filters',
      onsubmit: (event) => {
        event.preventDefault();
        const given = [...new FormData(form)].filter(([, value]) => value !== '');
        location.hash = `#/${name}${given.length === 0 ? '' : `?${new URLSearchParams(given)}`}`;
      },
    },
    fields,
    element('button', { class: 'main' }, 'Show'),
  );
  return form;
};
