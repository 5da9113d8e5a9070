/** Client of the operator API. `sessionStorage` limits the token to this tab; the browser deletes both together. */
const TOKEN = 'operator-token';

export const isSignedIn = () => sessionStorage.getItem(TOKEN) !== null;
export const signOut = () => sessionStorage.removeItem(TOKEN);

export class RequestError extends Error {
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}

const REQUEST_TIMEOUT_MS = 20_000;

const within = (limitMs, signal) => {
  const limit = limitMs === null ? null : AbortSignal.timeout(limitMs);
  return AbortSignal.any([limit, signal].filter((one) => one !== null && one !== undefined));
};

/** An `AbortError` stays as it is: the user left the page. */
const describeNoReply = (error) =>
  error.name === 'AbortError' ? error : new RequestError(0, 'The service does not respond.');

const send = async (method, path, body, signal, limitMs = REQUEST_TIMEOUT_MS) => {
  const headers = { authorization: `Bearer ${sessionStorage.getItem(TOKEN) ?? ''}` };
  const options = { method, headers, signal: within(limitMs, signal) };
  if (body !== undefined) {
    headers['content-type'] = 'application/json';
    options.body = JSON.stringify(body);
  }
  const response = await fetch(path, options).catch((error) => {
    throw describeNoReply(error);
  });
  if (response.ok) return response;
  const refusal = await response.json().catch(() => null);
  if (response.status === 401) {
    signOut();
    dispatchEvent(new Event('signed-out'));
  }
  const message = refusal?.error?.message ?? `The service returned status ${response.status}.`;
  throw new RequestError(response.status, message);
};

/** Headers can carry printable ASCII only, so no other text can be a valid token. */
const isPrintable = (token) => /^[\x20-\x7e]+$/.test(token);

/** Stores the token if the service accepts it. Pages report all other errors. */
export const signIn = async (token) => {
  if (!isPrintable(token)) return false;
  const { status } = await fetch('/ops/deliveries?limit=1', {
    headers: { authorization: `Bearer ${token}` },
    signal: within(REQUEST_TIMEOUT_MS),
  }).catch((error) => {
    throw describeNoReply(error);
  });
  if (status === 401) return false;
  sessionStorage.setItem(TOKEN, token);
  return true;
};

export const query = (values) => {
  const present = Object.entries(values).filter(
    ([, value]) => value !== null && value !== undefined && value !== '',
  );
  return present.length === 0 ? '' : `?${new URLSearchParams(present)}`;
};

export const get = async (path, signal, limitMs) =>
  (await (await send('GET', path, undefined, signal, limitMs)).json()).data;

/** Returns the items of a result page and the cursor of the next page, `null` after the last. */
export const getPage = async (path, signal) => {
  const { data, meta } = await (await send('GET', path, undefined, signal)).json();
  return { items: data, cursor: meta.cursor ?? null };
};

export const post = async (path, body = {}) => (await (await send('POST', path, body)).json()).data;

/** Time after which a download's object URL is revoked. Some browsers start to read it with a delay. */
const REVOKE_AFTER_MS = 60_000;
/** Saves a reply as a file. A plain link could not send the token. */
export const download = async (path, name) => {
  const url = URL.createObjectURL(await (await send('GET', path, undefined, undefined, null)).blob());
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), REVOKE_AFTER_MS);
};

/** Returns the missing parts of the whole service, from `/readyz`. Needs no token. */
export const readMissing = async () =>
  (await (await fetch('/readyz', { signal: within(REQUEST_TIMEOUT_MS) })).json()).missing ?? null;
