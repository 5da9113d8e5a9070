import { isSignedIn, readMissing, signIn, signOut } from './api-client.js';
import { button, element, field, notify } from './dom.js';
import { poll } from './polling.js';

/** Frame of the console: sign-in, hash router, and the line with the missing parts of the service. */

/** Poll interval of the missing parts. */
const MISSING_EVERY_MS = 10_000;
/** Maximum characters of a reason shown in full. A longer list is collapsed. */
const REASON_MAX_LENGTH = 90;
const PAGES = {
  projections: () => import('./projections.js'),
  parked: () => import('./parked.js'),
  waiting: () => import('./waiting.js'),
  figures: () => import('./figures.js'),
  collection: () => import('./collector/collection.js'),
  deliveries: () => import('./deliveries.js'),
  history: () => import('./history.js'),
};

const main = document.querySelector('main');
const nav = document.querySelector('nav');
const signOutButton = document.querySelector('#sign-out');
let leaving = new AbortController();

const decodePart = (text) => {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
};

const readRoute = () => {
  const [path, search] = location.hash.replace(/^#\/?/, '').split('?');
  const [name, ...rest] = path.split('/').map(decodePart);
  if (!Object.hasOwn(PAGES, name)) return { name: 'projections', id: null, values: new URLSearchParams() };
  return { name, id: rest.join('/') || null, values: new URLSearchParams(search) };
};

const showError = (error) => {
  if (error.name === 'AbortError' || error.status === 401) return;
  main.append(
    element(
      'div',
      { class: 'fault', role: 'alert' },
      element('p', {}, error.message),
      button('Try again', () => void show()),
    ),
  );
};

const showSignIn = () => {
  nav.hidden = true;
  signOutButton.hidden = true;
  document.title = 'Sign in · Operators';
  const token = element('input', {
    type: 'password',
    name: 'token',
    required: true,
    autocomplete: 'current-password',
    'aria-describedby': 'sign-in-error',
  });
  const message = element('p', { id: 'sign-in-error', class: 'bad', role: 'alert' });
  const enter = async (event) => {
    event.preventDefault();
    try {
      if (await signIn(token.value)) return show();
      message.textContent = 'Invalid operator token.';
    } catch (error) {
      message.textContent = error.message;
    }
    token.select();
  };
  main.replaceChildren(
    element(
      'form',
      { class: 'sign-in panel', onsubmit: (event) => void enter(event) },
      element('h1', {}, 'Sign in'),
      field('Operator token', token),
      message,
      element('button', { class: 'main' }, 'Sign in'),
      element(
        'p',
        { class: 'muted' },
        'Value of the setting OPS_TOKEN. With npm start: ops_token in .data/secrets.json. Stored in this tab until it is closed.',
      ),
    ),
  );
  token.focus();
};

const show = async () => {
  leaving.abort();
  leaving = new AbortController();
  const { signal } = leaving;
  notify('');
  if (!isSignedIn()) return showSignIn();
  const { name, id, values } = readRoute();
  nav.hidden = false;
  signOutButton.hidden = false;
  for (const link of nav.children) {
    const isHere = link.getAttribute('href') === `#/${name}`;
    if (isHere) link.setAttribute('aria-current', 'page');
    else link.removeAttribute('aria-current');
  }
  try {
    const page = await PAGES[name]();
    // The user opened another page while this one loaded.
    if (signal.aborted) return;
    const heading = element('h1', { tabindex: '-1' });
    main.replaceChildren(heading);
    const title = (text) => {
      heading.textContent = text;
      document.title = `${text} · Operators`;
    };
    const shown = page.show({ main, title, id, values, signal });
    heading.focus({ preventScroll: true });
    scrollTo(0, 0);
    await shown;
  } catch (error) {
    if (!signal.aborted) showError(error);
  }
};

const formatReason = (what, reason) => {
  const [, head, list] = /^(.*?): (.*)$/.exec(reason) ?? [];
  if (list === undefined || reason.length <= REASON_MAX_LENGTH) return element('p', {}, `${what}: ${reason}`);
  return element('details', {}, element('summary', {}, `${what}: ${head}`), element('p', {}, list));
};

const showMissing = async () => {
  const line = document.querySelector('#missing');
  const all = await readMissing().catch(() => null);
  const key = JSON.stringify(all);
  // An unchanged line is not redrawn, so that an expanded list stays expanded.
  if (line.dataset.shown === key) return;
  line.dataset.shown = key;
  line.hidden = all?.length === 0;
  line.replaceChildren(
    ...(all === null
      ? [element('p', {}, 'The service does not respond.')]
      : all.flatMap(({ what, why }) =>
          why.split('; ').map((reason) => formatReason(what.replaceAll('_', ' '), reason)),
        )),
  );
};

signOutButton.addEventListener('click', () => {
  signOut();
  void show();
});
addEventListener('signed-out', () => void show());
// Moves the focus without following the link, because its hash would open another page.
document.querySelector('.skip').addEventListener('click', (event) => {
  event.preventDefault();
  main.focus();
});
addEventListener('hashchange', () => void show());
void show();
void poll(showMissing, MISSING_EVERY_MS, new AbortController().signal);
