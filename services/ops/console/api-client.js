/**
 * The operator's token is kept in `sessionStorage`: it is this tab's alone and gone with it, and no request carries it
 * unless this file adds it.
 */
const TOKEN = 'operator-token';

export const isSignedIn = () => sessionStorage.getItem(TOKEN) !== null;
export const signOut = () => sessionStorage.removeItem(TOKEN);

/** What the service refused, in its own words. */
export class Refused extends Error {
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}

/** A service that answers nothing by then does not answer. Going through a chain and exporting take as long as they do. */
const ANSWER_LIMIT_MS = 20_000;

const within = (limitMs, signal) => {
  const limit = limitMs === null ? null : AbortSignal.timeout(limitMs);
  return AbortSignal.any([limit, signal].filter((one) => one !== null && one !== undefined));
};

/** Why no answer came, in words; that the page was left is told as it is. */
const noAnswer = (error) =>
  error.name === 'AbortError' ? error : new Refused(0, 'The service does not answer.');

const send = async (method, path, body, signal, limitMs = ANSWER_LIMIT_MS) => {
  const headers = { authorization: `Bearer ${sessionStorage.getItem(TOKEN) ?? ''}` };
  const given = { method, headers, signal: within(limitMs, signal) };
  if (body !== undefined) {
    headers['content-type'] = 'application/json';
    given.body = JSON.stringify(body);
  }
  const response = await fetch(path, given).catch((error) => {
    throw noAnswer(error);
  });
  if (response.ok) return response;
  const refusal = await response.json().catch(() => null);
  if (response.status === 401) {
    signOut();
    dispatchEvent(new Event('signed-out'));
  }
  throw new Refused(response.status, refusal?.error?.message ?? `The service answered ${response.status}.`);
};

/** No header can carry anything else, so no token is. */
const isPrintable = (token) => /^[\x20-\x7e]+$/.test(token);

/** Keeps the token when it is one, and answers whether it is; what else is wrong will show on the page. */
export const signIn = async (token) => {
  if (!isPrintable(token)) return false;
  const { status } = await fetch('/ops/deliveries?limit=1', {
    headers: { authorization: `Bearer ${token}` },
    signal: within(ANSWER_LIMIT_MS),
  }).catch((error) => {
    throw noAnswer(error);
  });
  if (status === 401) return false;
  sessionStorage.setItem(TOKEN, token);
  return true;
};

/** `null` and empty values are left out. */
export const query = (values) => {
  const given = Object.entries(values).filter(
    ([, value]) => value !== null && value !== undefined && value !== '',
  );
  return given.length === 0 ? '' : `?${new URLSearchParams(given)}`;
};

export const get = async (path, signal, limitMs) =>
  (await (await send('GET', path, undefined, signal, limitMs)).json()).data;

/** One page with the cursor of the next, or `null`. */
export const getPage = async (path, signal) => {
  const { data, meta } = await (await send('GET', path, undefined, signal)).json();
  return { items: data, cursor: meta.cursor ?? null };
};

export const post = async (path, body = {}) => (await (await send('POST', path, body)).json()).data;

const SAVING_MS = 60_000;
/** Saves an answer as a file; a link could not carry the token. */
export const download = async (path, name) => {
  const url = URL.createObjectURL(await (await send('GET', path, undefined, undefined, null)).blob());
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  // Not at once: some browsers begin to read it later.
  setTimeout(() => URL.revokeObjectURL(url), SAVING_MS);
};

/** What the whole service lacks; needs no token. */
export const missing = async () =>
  (await (await fetch('/readyz', { signal: within(ANSWER_LIMIT_MS) })).json()).missing ?? null;
