/** Markup is made of elements, never of text: what the service says cannot become any. */

const SVG = 'http://www.w3.org/2000/svg';

const fill = (made, attributes, children) => {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith('on')) made.addEventListener(name.slice(2), value);
    else made.setAttribute(name, value === true ? '' : value);
  }
  made.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return made;
};

/** `element('a', { href }, 'text', child, …)`; `null` attributes and children are left out. */
export const element = (name, attributes = {}, ...children) =>
  fill(document.createElement(name), attributes, children);

export const drawing = (name, attributes = {}, ...children) =>
  fill(document.createElementNS(SVG, name), attributes, children);

/** What goes wrong in `act` is said, unless it is that the page was left meanwhile or the token is no longer one. */
const reporting = (act) => async () => {
  try {
    await act();
  } catch (error) {
    if (error.name !== 'AbortError' && error.status !== 401) say(error.message, 'bad');
  }
};

export const button = (label, act, attributes = {}) =>
  element('button', { type: 'button', onclick: reporting(act), ...attributes }, label);

/** A label with its field, which is named by it. */
export const field = (label, input) =>
  element('label', { class: 'field' }, element('span', {}, label), input);

export const choice = (name, options, chosen) =>
  element(
    'select',
    { name },
    options.map(([value, label]) => element('option', { value, selected: value === chosen }, label)),
  );

/**
 * A table whose cells know their columns: on a narrow screen each row is shown as a card, with the names of the
 * columns beside the values. `compact`: two values side by side, where all of them are short.
 */
export const table = (caption, columns, rows, kind = '') =>
  element(
    'div',
    { class: `table ${kind}` },
    element(
      'table',
      {},
      element('caption', { class: 'unseen' }, caption),
      element(
        'thead',
        {},
        element(
          'tr',
          {},
          columns.map((name) => element('th', { scope: 'col' }, name)),
        ),
      ),
      element('tbody', {}, rows),
    ),
  );

/** Cells in the order of the columns; the first names the row. */
export const row = (columns, cells) =>
  element(
    'tr',
    {},
    cells.map((content, place) =>
      element(
        place === 0 ? 'th' : 'td',
        { 'data-column': columns[place], scope: place === 0 ? 'row' : null },
        element('div', { class: 'cell' }, content),
      ),
    ),
  );

export const pairs = (entries) =>
  element(
    'dl',
    {},
    entries.map(([name, ...value]) => element('div', {}, element('dt', {}, name), element('dd', {}, value))),
  );

export const badge = (word, tone = 'plain') => element('span', { class: `badge ${tone}` }, word);

export const json = (value) => element('pre', { tabindex: '0' }, JSON.stringify(value, null, 2));

/** Asks before something that cannot be taken back. Resolves to whether to go on. */
export const confirmed = (question, yes) =>
  new Promise((resolve) => {
    const closed = new AbortController();
    const dialog = element(
      'dialog',
      {
        'aria-label': yes,
        'aria-describedby': 'question',
        onclose: () => {
          closed.abort();
          dialog.remove();
          resolve(dialog.returnValue === 'yes');
        },
      },
      element('p', { id: 'question' }, question),
      element(
        'div',
        { class: 'actions' },
        button('No', () => dialog.close('no'), { class: 'quiet' }),
        button(yes, () => dialog.close('yes'), { class: 'main' }),
      ),
    );
    document.body.append(dialog);
    dialog.showModal();
    // Asked on one page, it is not answered on another.
    addEventListener('hashchange', () => dialog.close('no'), { signal: closed.signal });
  });

/** It covers a corner of the page, so what went well is not said for ever; what did not, stays. */
const SAID_MS = 10_000;
let unsay;

/** Tells what came of an action, to eyes and to screen readers. */
export const say = (text, tone = 'plain') => {
  clearTimeout(unsay);
  const said = document.querySelector('#said');
  said.className = `said ${tone}`;
  said.textContent = text;
  if (text !== '' && tone !== 'bad') unsay = setTimeout(() => say(''), SAID_MS);
};
