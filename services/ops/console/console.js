import { render } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { getMissing, isSignedIn, signIn, signOut } from './api.js';
import { Collection, Figures } from './collection.js';
import { Deliveries, Delivery } from './deliveries.js';
import { Histories } from './history.js';
import { Parked, Waiting } from './parked.js';
import { html, notify, useData } from './parts.js';
import { Projection, Projections } from './projections.js';

/** Frame of the console: sign-in, hash router, and the line with the missing parts of the service. */

/** Title and component of each page, and of its items. */
const PAGES = {
  projections: ['Projections', Projections, (id) => [id, Projection]],
  parked: ['Parked events', Parked],
  waiting: ['Waiting streams', Waiting],
  figures: ['Figures', Figures],
  collection: ['Collection', Collection],
  deliveries: ['Deliveries', Deliveries, () => ['Delivery', Delivery]],
  history: ['Histories', Histories],
};
const MISSING_EVERY_MS = 10_000;

/** An unknown address, also one with faulty encoding, shows the projections. */
const parseAddress = (hash) => {
  const [, name, id = '', search] = /^#\/(\w+)(?:\/([^?]*))?(?:\?(.*))?$/.exec(hash) ?? [];
  if (!Object.hasOwn(PAGES, name ?? '')) return parseAddress('#/projections');
  try {
    return { name, id: decodeURIComponent(id), values: Object.fromEntries(new URLSearchParams(search)) };
  } catch {
    return parseAddress(`#/${name}`);
  }
};

/** A list of names after a reason is collapsed. */
const drawReason = (text) => {
  const [, reason, names] = /^(.*?: .*?): (.*)$/.exec(text) ?? [];
  return names
    ? html`<details><summary>${reason}</summary><p>${names}</p></details>`
    : html`<div>${text}</div>`;
};

const Missing = () => {
  const { value: all } = useData(getMissing, () => MISSING_EVERY_MS);
  if (all === undefined || all?.length === 0) return null;
  const texts = all?.flatMap(({ what, why }) => why.split('; ').map((reason) => `${what}: ${reason}`));
  return html`
    <div class="missing bad" role="status">${texts?.map(drawReason) ?? 'The service does not respond.'}</div>
  `;
};

const SignIn = ({ enter }) => {
  const form = useRef();
  const [fault, setFault] = useState('');
  useEffect(() => {
    document.title = 'Sign in · Operators';
    form.current.token.focus();
  }, []);
  const submit = async (event) => {
    event.preventDefault();
    try {
      await signIn(form.current.token.value);
      enter();
    } catch (error) {
      setFault(error.message);
      form.current.token.select();
    }
  };
  return html`
    <form ref=${form} onSubmit=${submit}>
      <h1>Sign in</h1>
      <label>
        Operator token
        <input type="password" name="token" required aria-describedby="fault" autocomplete="current-password" />
      </label>
      <p id="fault" class="bad" role="alert">${fault}</p>
      <button>Sign in</button>
      <p class="muted">
        Value of the setting OPS_TOKEN. With npm start: ops_token in .data/secrets.json. Stored in this tab until it is
        closed.
      </p>
    </form>
  `;
};

const Page = ({ address: { name, id, values } }) => {
  const heading = useRef();
  const [listTitle, List, itemOf] = PAGES[name];
  const isItem = itemOf !== undefined && id !== '';
  const [title, Content] = isItem ? itemOf(id) : [listTitle, List];
  useEffect(() => {
    document.title = `${title} · Operators`;
    heading.current.focus({ preventScroll: true });
    scrollTo(0, 0);
  }, []);
  return html`
    ${isItem && html`<p><a href=${`#/${name}`}>← All ${listTitle.toLowerCase()}</a></p>`}
    <h1 tabindex="-1" ref=${heading}>${title}</h1>
    <${Content} id=${id} values=${values} />
  `;
};

const App = () => {
  const [hash, setHash] = useState(location.hash);
  const [isIn, setIsIn] = useState(isSignedIn());
  const main = useRef();
  useEffect(() => {
    addEventListener('hashchange', () => {
      notify('');
      setHash(location.hash);
    });
    addEventListener('signed-out', () => setIsIn(false));
  }, []);
  const address = parseAddress(hash);
  // Does not follow the link, because its hash would open another page.
  const skip = (event) => {
    event.preventDefault();
    main.current.focus();
  };
  const link = ([name, [title]]) =>
    html`<a href=${`#/${name}`} aria-current=${name === address.name ? 'page' : null}>${title}</a>`;
  return html`
    <a class="skip" href="#/" onClick=${skip}>Skip to content</a>
    <header>
      <b>Operators</b>
      ${isIn && html`<nav aria-label="Console">${Object.entries(PAGES).map(link)}</nav>`}
      ${isIn && html`<button type="button" onClick=${signOut}>Sign out</button>`}
    </header>
    <${Missing} />
    <main tabindex="-1" ref=${main}>
      ${
        isIn
          ? html`<${Page} key=${hash} address=${address} />`
          : html`<${SignIn} enter=${() => setIsIn(true)} />`
      }
    </main>
  `;
};

render(html`<${App} />`, document.querySelector('#app'));
