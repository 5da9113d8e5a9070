import { button, element } from './dom.js';

/** A list that holds one result page, so that its cost does not grow with the number of entries. */
export const paginate = (read, draw, emptyText) => {
  const body = element('div', { 'aria-live': 'off' }, element('p', { class: 'muted' }, 'Loading …'));
  const pageNumber = element('span', { class: 'muted', role: 'status' });
  const cursors = [null];
  let next = null;
  let isLoading = false;
  const load = async () => {
    const found = await read(cursors.at(-1));
    next = found.cursor;
    body.replaceChildren(
      found.items.length === 0 ? element('p', { class: 'muted' }, emptyText) : draw(found.items),
    );
    previousButton.disabled = cursors.length === 1;
    nextButton.disabled = next === null;
    bar.hidden = cursors.length === 1 && next === null;
    pageNumber.textContent = `Page ${cursors.length}`;
  };
  const openPage = async (target) => {
    if (isLoading) return;
    isLoading = true;
    const previous = [...cursors];
    cursors.splice(0, cursors.length, ...target);
    try {
      await load();
    } catch (error) {
      cursors.splice(0, cursors.length, ...previous);
      throw error;
    } finally {
      isLoading = false;
    }
    body.scrollIntoView({ block: 'nearest' });
  };
  const previousButton = button('Previous', () => openPage(cursors.slice(0, -1)));
  const nextButton = button('Next', () => openPage([...cursors, next]));
  const bar = element(
    'nav',
    { class: 'actions', 'aria-label': 'Pages', hidden: true },
    previousButton,
    pageNumber,
    nextButton,
  );
  return { element: element('div', {}, body, bar), load };
};

export const filters = (name, fields) => {
  const form = element(
    'form',
    {
      class: 'filters panel',
      'aria-label': 'Filters',
      onsubmit: (event) => {
        event.preventDefault();
        const values = [...new FormData(form)].filter(([, value]) => value !== '');
        location.hash = `#/${name}${values.length === 0 ? '' : `?${new URLSearchParams(values)}`}`;
      },
    },
    fields,
    element('button', { class: 'main' }, 'Show'),
  );
  return form;
};
