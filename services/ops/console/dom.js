/** Text never becomes markup, so data from the service cannot inject HTML. */

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

export const element = (name, attributes = {}, ...children) =>
  fill(document.createElement(name), attributes, children);

export const drawing = (name, attributes = {}, ...children) =>
  fill(document.createElementNS(SVG, name), attributes, children);

/** Shows the error of an action, unless the user left the page or was signed out. */
const reportErrors = (act) => async () => {
  try {
    await act();
  } catch (error) {
    if (error.name !== 'AbortError' && error.status !== 401) notify(error.message, 'bad');
  }
};

export const button = (label, act, attributes = {}) =>
  element('button', { type: 'button', onclick: reportErrors(act), ...attributes }, label);

export const field = (label, input) =>
  element('label', { class: 'field' }, element('span', {}, label), input);

export const choice = (name, options, selected) =>
  element(
    'select',
    { name },
    options.map(([value, label]) => element('option', { value, selected: value === selected }, label)),
  );

/** Creates a responsive table: on a narrow screen each row becomes a card. `compact` puts two values on a line. */
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

export const row = (columns, cells) =>
  element(
    'tr',
    {},
    cells.map((content, index) =>
      element(
        index === 0 ? 'th' : 'td',
        { 'data-column': columns[index], scope: index === 0 ? 'row' : null },
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

/** Shows a confirmation dialog. Resolves to true when the user confirms. */
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
    // Closes when another page opens.
    addEventListener('hashchange', () => dialog.close('no'), { signal: closed.signal });
  });

/** Display time of a notice, which covers a corner of the page. Errors stay until the next notice. */
const NOTICE_MS = 10_000;
let hideTimer;

export const notify = (text, tone = 'plain') => {
  clearTimeout(hideTimer);
  const notice = document.querySelector('#notice');
  notice.className = `notice ${tone}`;
  notice.textContent = text;
  if (text !== '' && tone !== 'bad') hideTimer = setTimeout(() => notify(''), NOTICE_MS);
};
