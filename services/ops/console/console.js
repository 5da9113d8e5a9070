import { isSignedIn, missing, signIn, signOut } from './api-client.js';
import { button, element, field, say } from './dom.js';
import { repeat } from './polling.js';

/** The frame: who is signed in, which page is shown, and what the whole service lacks. */

const MISSING_EVERY_MS = 10_000;
/** Longer ones are folded. */
const REASON_MAX_LENGTH = 90;
const PAGES = {
  projections: () => import('./projections.js'),
  parked: () => import('./parked.js'),
  deliveries: () => import('./deliveries.js'),
  history: () => import('./history.js'),
};

const main = document.querySelector('main');
const nav = document.querySelector('nav');
const signOutButton = document.querySelector('#sign-out');
let leaving = new AbortController();

/** Half an escape, as of an address that was cut off, is what it says. */
const decoded = (text) => {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
};

/** `#/parked?projection=radar` and `#/deliveries/ID`. */
const place = () => {
  const [path, search] = location.hash.replace(/^#\/?/, '').split('?');
  const [name, ...rest] = path.split('/').map(decoded);
  if (!Object.hasOwn(PAGES, name)) return { name: 'projections', id: null, values: new URLSearchParams() };
  return { name, id: rest.join('/') || null, values: new URLSearchParams(search) };
};

const showFault = (error) => {
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
    'aria-describedby': 'wrong',
  });
  const wrong = element('p', { id: 'wrong', class: 'bad', role: 'alert' });
  const enter = async (event) => {
    event.preventDefault();
    try {
      if (await signIn(token.value)) return show();
      wrong.textContent = 'That is not the operator token of this service.';
    } catch (error) {
      wrong.textContent = error.message;
    }
    token.select();
  };
  main.replaceChildren(
    element(
      'form',
      { class: 'sign-in panel', onsubmit: (event) => void enter(event) },
      element('h1', {}, 'Sign in'),
      field('Operator token', token),
      wrong,
      element('button', { class: 'main' }, 'Sign in'),
      element(
        'p',
        { class: 'muted' },
        'The setting OPS_TOKEN; after npm start it is ops_token in .data/secrets.json. This tab keeps it until it is closed.',
      ),
    ),
  );
  token.focus();
};

const show = async () => {
  leaving.abort();
  leaving = new AbortController();
  const { signal } = leaving;
  say('');
  if (!isSignedIn()) return showSignIn();
  const { name, id, values } = place();
  nav.hidden = false;
  signOutButton.hidden = false;
  for (const link of nav.children) {
    const isHere = link.getAttribute('href') === `#/${name}`;
    if (isHere) link.setAttribute('aria-current', 'page');
    else link.removeAttribute('aria-current');
  }
  try {
    const page = await PAGES[name]();
    // Meanwhile another page was asked for, and is shown.
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
    if (!signal.aborted) showFault(error);
  }
};

/** `31 of 31 projected by nobody: ads, …` keeps its list behind what it says; a short one is said at once. */
const reasonOf = (what, reason) => {
  const [, head, list] = /^(.*?): (.*)$/.exec(reason) ?? [];
  if (list === undefined || reason.length <= REASON_MAX_LENGTH) return element('p', {}, `${what}: ${reason}`);
  return element('details', {}, element('summary', {}, `${what}: ${head}`), element('p', {}, list));
};

const showMissing = async () => {
  const line = document.querySelector('#missing');
  const all = await missing().catch(() => null);
  const key = JSON.stringify(all);
  // What was opened stays open until there is something else to say.
  if (line.dataset.shown === key) return;
  line.dataset.shown = key;
  line.hidden = all?.length === 0;
  line.replaceChildren(
    ...(all === null
      ? [element('p', {}, 'The service does not answer.')]
      : all.flatMap(({ what, why }) =>
          why.split('; ').map((reason) => reasonOf(what.replaceAll('_', ' '), reason)),
        )),
  );
};

signOutButton.addEventListener('click', () => {
  signOut();
  void show();
});
addEventListener('signed-out', () => void show());
// The address stays that of the page: to follow the link as one would leave it.
document.querySelector('.skip').addEventListener('click', (event) => {
  event.preventDefault();
  main.focus();
});
addEventListener('hashchange', () => void show());
void show();
void repeat(showMissing, MISSING_EVERY_MS, new AbortController().signal);
