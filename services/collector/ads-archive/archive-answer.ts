import { observedText } from '#contracts/values/text.ts';
import { isObject, type JsonObject, objectAt } from '#domain/shapes/json-object.ts';

/** Result of one call to the library API. Texts hold no token. */
export type ArchiveAnswer =
  /** Ads, and the cursor of the next answer; `null` at the end of the list. */
  | { readonly kind: 'page'; readonly ads: readonly unknown[]; readonly after: string | null }
  /** The account made too many calls. */
  | { readonly kind: 'limited'; readonly detail: string }
  /** The answer would be too large. */
  | { readonly kind: 'reduce'; readonly detail: string }
  /** A fault that may be over soon. */
  | { readonly kind: 'fault'; readonly detail: string }
  /** The token is not accepted, or may not do this. */
  | { readonly kind: 'denied'; readonly detail: string }
  /** A parameter is not valid; of ours, that is a page id. */
  | { readonly kind: 'invalid'; readonly detail: string };

const LIMITS: ReadonlySet<unknown> = new Set([4, 17, 32, 368, 613, 80004]);
const INVALID_PARAMETER = 100;
const TOO_MANY_REQUESTS = 429;
const isDenied = (code: unknown): boolean =>
  code === 10 || code === 190 || (typeof code === 'number' && code >= 200 && code <= 299);

/** Characters of a message that are kept. */
const MESSAGE_MAX_LENGTH = 300;
/** Tokens of the platform as they occur in its messages and addresses. */
const TOKENS = /\bEAA\w{10,}|((?:access_token|appsecret_proof|client_secret|fb_exchange_token)=)[^&\s"']+/g;

/** Characters of a cursor. Longer ones do not occur. */
const CURSOR_MAX_LENGTH = 10_000;

/** Returns a text of the platform without tokens and secrets, not too long, and such that Postgres can store it. */
export const withoutSecrets = (text: string, secrets: readonly string[]): string =>
  secrets
    .filter((secret) => secret !== '')
    .reduce((shown, secret) => shown.replaceAll(secret, '(removed)'), text)
    .replaceAll(TOKENS, '$1(removed)')
    .slice(0, MESSAGE_MAX_LENGTH)
    .toWellFormed()
    .replaceAll('\0', '\uFFFD');

const Cursor = observedText(CURSOR_MAX_LENGTH);

const parse = (body: Buffer): unknown => {
  try {
    return JSON.parse(body.toString('utf8'));
  } catch {
    // HTML, or a text that was cut off.
    return undefined;
  }
};

const cursorOf = (value: JsonObject): string | null => {
  const after = objectAt(objectAt(value, 'paging'), 'cursors')['after'];
  return typeof after === 'string' && after !== '' ? after : null;
};

/** Reads an answer by the codes of the platform. Unknown errors count as faults that may be over soon. */
export const readArchiveAnswer = (
  status: number,
  body: Buffer,
  secrets: readonly string[],
): ArchiveAnswer => {
  const value = parse(body);
  if (!isObject(value)) {
    const kind = status === TOO_MANY_REQUESTS ? 'limited' : 'fault';
    return { kind, detail: `answered ${status} without an object of JSON` };
  }
  if (status === 200 && Array.isArray(value['data'])) {
    const after = cursorOf(value);
    if (after === null || Cursor.safeParse(after).success) return { kind: 'page', ads: value['data'], after };
    return { kind: 'fault', detail: 'answered 200 with a cursor that cannot be kept' };
  }
  const { code, error_subcode: subcode, message } = objectAt(value, 'error');
  const text = withoutSecrets(typeof message === 'string' ? message : 'without a message', secrets);
  const codes = [code, subcode].filter((one) => typeof one === 'number').join(', subcode ');
  const detail = `answered ${status}, code ${codes === '' ? 'unknown' : codes}: ${text}`;
  if (LIMITS.has(code) || status === TOO_MANY_REQUESTS) return { kind: 'limited', detail };
  if (code === 1 && /reduce/i.test(text)) return { kind: 'reduce', detail };
  if (isDenied(code)) return { kind: 'denied', detail };
  if (code === INVALID_PARAMETER) return { kind: 'invalid', detail };
  return { kind: 'fault', detail };
};
