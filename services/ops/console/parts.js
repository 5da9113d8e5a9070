import htm from 'htm';
import { h } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { getPage, query } from './api.js';

/** Text in a template never becomes markup, so data of the service cannot inject HTML. */
export const html = htm.bind(h);

const NUMBER = new Intl.NumberFormat('en', { maximumFractionDigits: 2 });
const TIME = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'medium', timeZone: 'UTC' });
const ISO_TIME = /^\d{4}-\d\d-\d\dT[\d:.]+Z$/;
/** Fields whose values are names of states, drawn in the colour of how good they are. */
const STATE_FIELDS = ['state', 'states', 'status', 'outcome'];
const TONES = {
  good: ['live', 'done', 'passed', 'delivered', 'in flight', 'intact', 'holds'],
  warn: ['paused', 'retrying', 'refused', 'shut', 'not checked'],
  bad: ['failed', 'differs', 'overdue', 'no owner', 'stalled', 'rebuild failed', 'violated', 'broken'],
};

/** Formats a value of the API as text. */
export const show = (value) => {
  if (typeof value === 'number') return NUMBER.format(value);
  if (value === null || value === undefined || value.length === 0) return '–';
  if (Array.isArray(value)) return value.map(show).join(', ');
  return ISO_TIME.test(value) ? `${TIME.format(new Date(value))} UTC` : String(value);
};

export const plural = (value, one) => `${show(value)} ${one}${value === 1 ? '' : 's'}`;

export const badge = (name) => {
  const word = name.replaceAll('_', ' ');
  const tone = Object.keys(TONES).find((one) => TONES[one].includes(word)) ?? 'muted';
  return html`<span class="badge ${tone}">${word}</span> `;
};

/** Label of a field of the API, which calls events facts: `next_attempt_at` is "Next attempt". */
const toLabel = (field) => {
  const text = field
    .replace(/_(at|id)$/, '')
    .replaceAll('_', ' ')
    .replace('facts', 'events');
  return text[0].toUpperCase() + text.slice(1);
};

/** Errors stay until the next notice; other texts only a while, because they cover a corner of the page. */
const NOTICE_MS = 10_000;
let hideTimer;

export const notify = (text, tone = '') => {
  clearTimeout(hideTimer);
  Object.assign(document.querySelector('#notice'), { className: tone, textContent: text });
  if (text !== '' && tone !== 'bad') hideTimer = setTimeout(() => notify(''), NOTICE_MS);
};

/**
 * Reads when the page opens and on `reload`, then every `everyMs(value)` while the tab is visible; `null` reads once.
 * Polling goes on after errors of the server, so that the display survives a deployment.
 */
export const useData = (read, everyMs = () => null) => {
  const [state, setState] = useState({ value: undefined, error: null });
  const [reads, setReads] = useState(0);
  useEffect(() => {
    const closed = new AbortController();
    let [value, isStale, timer] = [undefined, false, undefined];
    const load = async () => {
      try {
        if (value === undefined || !document.hidden) value = await read(closed.signal);
        if (closed.signal.aborted) return;
        if (isStale) notify('');
        isStale = false;
        setState({ value, error: null });
      } catch (error) {
        const { status, message } = error;
        if (closed.signal.aborted || status === 401) return;
        if (everyMs(value) === null || (status >= 400 && status < 500))
          return setState((last) => ({ ...last, error }));
        if (!isStale) notify(`${message} Retrying; the page shows the last known state.`, 'bad');
        isStale = true;
      }
      const waitMs = everyMs(value);
      if (waitMs !== null) timer = setTimeout(load, waitMs);
    };
    void load();
    return () => {
      closed.abort();
      clearTimeout(timer);
    };
  }, [reads]);
  return { ...state, reload: () => setReads((last) => last + 1) };
};

/** Draws what `useData` has read. */
export const loaded = ({ value, error, reload }, draw) => html`
  ${error && html`<p class="bad" role="alert">${error.message} <${Button} act=${reload}>Try again<//></p>`}
  ${value === undefined ? !error && html`<p class="muted">Loading …</p>` : draw(value)}
`;

/** Runs one action at a time, after the question `ask`, and shows its error unless the user left the page. */
export const Button = ({ act, ask, children, ...attributes }) => {
  const isActing = useRef(false);
  const [isAsking, setIsAsking] = useState(false);
  const run = async () => {
    if (isActing.current) return;
    isActing.current = true;
    try {
      await act();
    } catch (error) {
      if (error.name !== 'AbortError' && error.status !== 401) notify(error.message, 'bad');
    } finally {
      isActing.current = false;
    }
  };
  const close = ({ currentTarget }) => currentTarget.closest('dialog').close(currentTarget.value);
  const answer = ({ currentTarget }) => {
    setIsAsking(false);
    if (currentTarget.returnValue === 'yes') void run();
  };
  const dialog = html`
    <dialog aria-label=${children} ref=${(one) => one?.showModal()} onClose=${answer}>
      <p>${ask}</p>
      <button type="button" value="no" onClick=${close}>No</button>${' '}
      <button type="button" value="yes" onClick=${close}>Yes</button>
    </dialog>
  `;
  const click = ask ? () => setIsAsking(true) : run;
  return html`<button type="button" ...${attributes} onClick=${click}>${children}</button> ${isAsking && dialog}`;
};

export const Json = ({ item }) => html`<pre tabindex="0">${JSON.stringify(item, null, 2)}</pre>`;

/** Draws a field of an item: with a function of `draw`, as a state, or as text. */
const drawField = (item, field, draw = {}) => {
  if (draw[field]) return draw[field](item);
  return item[field] && STATE_FIELDS.includes(field) ? [item[field]].flat().map(badge) : show(item[field]);
};

/** `fields` are names of fields, separated by spaces. */
export const Pairs = ({ item, fields, draw }) => html`
  <dl>
    ${fields
      .split(' ')
      .map((field) => html`<div><dt>${toLabel(field)}</dt><dd>${drawField(item, field, draw)}</dd></div>`)}
  </dl>
`;

const Row = ({ fields: [first, ...others], item, draw, Detail }) => {
  const [isOpen, setIsOpen] = useState(false);
  const content = drawField(item, first, draw);
  const toggle = html`
    <button type="button" class="link" aria-expanded=${isOpen} onClick=${() => setIsOpen(!isOpen)}>${content}</button>
  `;
  return html`
    <tr>
      <th scope="row">${Detail ? toggle : content}</th>
      ${others.map((field) => html`<td data-label=${toLabel(field)}><div>${drawField(item, field, draw)}</div></td>`)}
    </tr>
    ${isOpen && html`<tr class="more"><td colspan=${others.length + 1}><${Detail} item=${item} /></td></tr>`}
  `;
};

/** With the component `Detail`, the first column opens a row below. On a narrow screen each row is a card. */
export const Table = ({ caption, items, keyOf, fields: names, ...row }) => {
  const fields = names.split(' ');
  if (items.length === 0) return null;
  return html`
    <table>
      ${caption && html`<caption>${caption}</caption>`}
      <thead><tr>${fields.map((field) => html`<th scope="col">${toLabel(field)}</th>`)}</tr></thead>
      <tbody>${items.map((item) => html`<${Row} key=${keyOf?.(item)} item=${item} fields=${fields} ...${row} />`)}</tbody>
    </table>
  `;
};

const PAGE_ITEMS = 50;

/** A table of one result page, so that its cost does not grow with the number of entries. */
export const Pages = ({ path, filter = {}, cursorName = 'cursor', empty, ...table }) => {
  const readPage = (cursor) =>
    getPage(`${path}${query({ ...filter, [cursorName]: cursor, limit: PAGE_ITEMS })}`);
  const [turned, setTurned] = useState(null);
  const open = async (cursors) => setTurned({ cursors, ...(await readPage(cursors.at(-1))) });
  const data = useData(() => readPage(null));
  return loaded(data, (first) => {
    const { items, cursor, cursors } = turned ?? { ...first, cursors: [null] };
    return html`
      ${items.length === 0 && html`<p class="muted">${empty}</p>`}
      <${Table} items=${items} ...${table} />
      <nav class="actions" aria-label="Pages" hidden=${cursors.length === 1 && cursor === null}>
        <${Button} disabled=${cursors.length === 1} act=${() => open(cursors.slice(0, -1))}>Previous<//>
        <span role="status">Page ${cursors.length}</span>
        <${Button} disabled=${cursor === null} act=${() => open([...cursors, cursor])}>Next<//>
      </nav>
    `;
  });
};

/** Writes its fields to the address, so that back and a shared link show the same. `options`: pairs of value and label. */
export const Filters = ({ page, values, fields }) => {
  const submit = (event) => {
    event.preventDefault();
    location.hash = `#/${page}${query(Object.fromEntries(new FormData(event.currentTarget)))}`;
  };
  const draw = ({ name, options, ...attributes }) => {
    const given = values[name] ?? '';
    const option = ([value, text]) =>
      html`<option value=${value} selected=${value === given}>${text}</option>`;
    const input = html`<input name=${name} defaultValue=${given} ...${attributes} />`;
    return html`
      <label>${toLabel(name)} ${options ? html`<select name=${name}>${options.map(option)}</select>` : input}</label>
    `;
  };
  return html`
    <form class="actions" aria-label="Filters" onSubmit=${submit}>
      ${fields.map(draw)}<button>Show</button>
    </form>
  `;
};
