/**
 * Slider over time, figures under the pointer, and labels of missing pictures. The server draws the page at each moment;
 * this puts its parts in place of the old ones.
 */

const DEBOUNCE_MS = 250;
/** A read of a past moment that was left goes on, and others of the workspace wait for it. */
const RETRIES = 3;

const form = document.querySelector('#moment');
const slider = document.querySelector('#slider');
const fault = form.querySelector('.fault');
const parts = ['#known', '#basis'];
const unitMs = Number(form.dataset.unitMs);
const timeStyle = unitMs < 60_000 ? 'medium' : 'short';
const TIME = new Intl.DateTimeFormat('en-GB', { dateStyle: 'long', timeStyle, timeZone: 'UTC' });

const isNow = () => slider.value === slider.max;
const showPosition = () => {
  const text = isNow() ? 'now' : `${TIME.format(Number(slider.value) * unitMs)} UTC`;
  form.querySelector('#position').textContent = text;
  form.querySelector('#sense').textContent = 'observed by';
  slider.setAttribute('aria-valuetext', text);
};

const address = () => {
  const url = new URL(form.action);
  if (!isNow()) url.searchParams.set('observed_as_of', new Date(Number(slider.value) * unitMs).toISOString());
  return url;
};

const showFault = (text, mayRetry = true) => {
  fault.querySelector('span').textContent = text;
  fault.querySelector('button').hidden = !mayRetry;
  fault.hidden = text === '';
};

let loading = new AbortController();
let timer;

/** Aborts an earlier load, so that a slow answer never replaces a newer one. */
const load = async (retries = RETRIES) => {
  clearTimeout(timer);
  loading.abort();
  loading = new AbortController();
  const { signal } = loading;
  const url = address();
  const known = document.querySelector('#known');
  known.setAttribute('aria-busy', 'true');
  try {
    const response = await fetch(url, { signal });
    if (response.status === 503 && retries > 0) {
      timer = setTimeout(load, Number(response.headers.get('retry-after')) * 1_000, retries - 1);
      return;
    }
    const page = new DOMParser().parseFromString(await response.text(), 'text/html');
    // A sign-in that has ended leads to another page.
    if (response.redirected) return location.assign(response.url);
    if (!response.ok) {
      const words = Array.from(page.querySelectorAll('main p'), (one) => one.textContent).join(' ');
      throw new Error(words, { cause: response.status });
    }
    history.replaceState(null, '', url);
    showFault('');
    // The elements stay, because assistive technology watches them for changes.
    for (const part of parts)
      document.querySelector(part).replaceChildren(...page.querySelector(part).childNodes);
    known.removeAttribute('aria-busy');
  } catch (error) {
    if (signal.aborted) return;
    known.removeAttribute('aria-busy');
    const text = error instanceof TypeError ? 'The service does not respond.' : error.message;
    showFault(`${text} The figures are still those of the moment before.`, error.cause !== 400);
  }
};

slider.addEventListener('input', () => {
  showPosition();
  loading.abort();
  clearTimeout(timer);
  timer = setTimeout(load, DEBOUNCE_MS);
});
form.querySelector('#now').addEventListener('click', (event) => {
  event.preventDefault();
  slider.value = slider.max;
  showPosition();
  void load();
});
form.addEventListener('submit', (event) => event.preventDefault());
fault.querySelector('button').addEventListener('click', () => void load());
slider.disabled = slider.min === slider.max;

document.addEventListener('pointerover', ({ target }) => {
  const title = target.closest?.('.day')?.querySelector('title');
  if (title) target.closest('section').querySelector('.readout').textContent = title.textContent;
});

const labelMissing = (picture) => {
  picture.previousElementSibling.append(', no picture available');
  picture.remove();
};
// Errors of pictures do not bubble.
document.addEventListener(
  'error',
  ({ target }) => target.matches?.('.picture img') && labelMissing(target),
  true,
);
for (const picture of document.querySelectorAll('.picture img'))
  if (picture.complete && picture.naturalWidth === 0) labelMissing(picture);
