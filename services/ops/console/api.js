/** Client of the operator API. `sessionStorage` limits the token to this tab; the browser deletes both together. */
const TOKEN = 'operator-token';
const TIMEOUT_MS = 20_000;
/** Some browsers start to read a download's object URL with a delay. */
const REVOKE_AFTER_MS = 60_000;

export const isSignedIn = () => sessionStorage.getItem(TOKEN) !== null;

export const signOut = () => {
  sessionStorage.removeItem(TOKEN);
  dispatchEvent(new Event('signed-out'));
};

const failure = (status, message) => Object.assign(new Error(message), { status });

/** An `AbortError` stays as it is: the user left the page. `limitMs` 0 means no limit. */
const send = async (path, { token, body, signal, limitMs = TIMEOUT_MS } = {}) => {
  const headers = { authorization: `Bearer ${token ?? sessionStorage.getItem(TOKEN) ?? ''}` };
  if (body) headers['content-type'] = 'application/json';
  const method = body ? 'POST' : 'GET';
  const limits = [signal, limitMs > 0 && AbortSignal.timeout(limitMs)].filter(Boolean);
  const options = { method, headers, body: JSON.stringify(body), signal: AbortSignal.any(limits) };
  const response = await fetch(path, options).catch((error) => {
    throw error.name === 'AbortError' ? error : failure(0, 'The service does not respond.');
  });
  if (response.ok) return response;
  const refusal = await response.json().catch(() => null);
  const text = refusal?.error?.message ?? `The service returned status ${response.status}.`;
  if (response.status === 401 && !token) signOut();
  throw Object.assign(failure(response.status, text), { refusal });
};

const read = async (path, options) => (await send(path, options)).json();

/** Stores the token if the service accepts it, and throws otherwise. Headers carry printable ASCII only. */
export const signIn = async (token) => {
  if (!/^[\x20-\x7e]+$/.test(token)) throw failure(401, 'Invalid operator token.');
  await send('/ops/deliveries?limit=1', { token }).catch((error) => {
    throw error.status === 401 ? failure(401, 'Invalid operator token.') : error;
  });
  sessionStorage.setItem(TOKEN, token);
};

/** Leaves out values that are empty. */
export const query = (values) => {
  const present = Object.entries(values).filter(([, value]) => (value ?? '') !== '');
  return present.length === 0 ? '' : `?${new URLSearchParams(present)}`;
};

export const get = async (path, signal, limitMs) => (await read(path, { signal, limitMs })).data;
export const post = async (path, body = {}) => (await read(path, { body })).data;

/** Returns the items of a result page and the cursor of the next page, `null` after the last. */
export const getPage = async (path) => {
  const { data, meta } = await read(path);
  return { items: data, cursor: meta.cursor ?? null };
};

/** Returns the missing parts of the service; `null` without an answer. `/readyz` answers 503 while there are some. */
export const getMissing = async (signal) => {
  const found = await read('/readyz', { signal }).catch(({ refusal }) => refusal);
  return found?.missing ?? null;
};

/** Saves a reply as a file. A plain link could not send the token. */
export const download = async (path, name) => {
  const url = URL.createObjectURL(await (await send(path, { limitMs: 0 })).blob());
  Object.assign(document.createElement('a'), { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), REVOKE_AFTER_MS);
};
