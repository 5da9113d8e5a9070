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

const send = async (method, path, body, signal) => {
  const headers = { authorization: `Bearer ${sessionStorage.getItem(TOKEN) ?? ''}` };
  const given = { method, headers, signal };
  if (body !== undefined) {
    headers['content-type'] = 'application/json';
    given.body = JSON.stringify(body);
  }
  const response = await fetch(path, given);
  if (response.ok) return response;
  const refusal = await response.json().catch(() => null);
  if (response.status === 401) {
    signOut();
    dispatchEvent(new Event('signed-out'));
  }
  throw new Refused(response.status, refusal?.error?.message ?? `The service answered ${response.status}.`);
};

/** Keeps the token when it is one, and answers whether it is; what else is wrong will show on the page. */
export const signIn = async (token) => {
  const { status } = await fetch('/ops/deliveries?limit=1', {
    headers: { authorization: `Bearer ${token}` },
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

export const get = async (path, signal) => (await (await send('GET', path, undefined, signal)).json()).data;

/** One page with the cursor of the next, or `null`. */
export const getPage = async (path, signal) => {
  const { data, meta } = await (await send('GET', path, undefined, signal)).json();
  return { items: data, cursor: meta.cursor ?? null };
};

export const post = async (path, body = {}) => (await (await send('POST', path, body)).json()).data;

/** Saves an answer as a file; a link could not carry the token. */
export const download = async (path, name) => {
  const url = URL.createObjectURL(await (await send('GET', path)).blob());
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  URL.revokeObjectURL(url);
};

/** What the whole service lacks; needs no token. */
export const missing = async (signal) => (await (await fetch('/readyz', { signal })).json()).missing;
