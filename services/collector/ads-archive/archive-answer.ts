import { observedText } from '#contracts/values/text.ts';
import { isObject, type JsonObject, objectAt } from '#domain/shapes/json-object.ts';

export type ArchiveAnswer =
  /** `after` is `null` at the end of the list. */
  | { readonly kind: 'page'; readonly ads: readonly unknown[]; readonly after: string | null }
  | { readonly kind: 'limited'; readonly detail: string }
  | { readonly kind: 'reduce'; readonly detail: string }
  | { readonly kind: 'fault'; readonly detail: string }
  | { readonly kind: 'denied'; readonly detail: string }
  | { readonly kind: 'invalid'; readonly detail: string };

const LIMITS: ReadonlySet<unknown> = new Set([4, 17, 32, 368, 613, 80004]);
const INVALID_PARAMETER = 100;
const TOO_MANY_REQUESTS = 429;
const isDenied = (code: unknown): boolean =>
  code === 10 || code === 190 || (typeof code === 'number' && code >= 200 && code <= 299);

const MESSAGE_MAX_LENGTH = 300;
/** Tokens as they occur in the platform's messages and URLs. */
const TOKENS = /\bEAA\w{10,}|((?:access_token|appsecret_proof|client_secret|fb_exchange_token)=)[^&\s"']+/g;

const CURSOR_MAX_LENGTH = 10_000;

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
    return undefined;
  }
};

const cursorOf = (value: JsonObject): string | null => {
  const after = objectAt(objectAt(value, 'paging'), 'cursors')['after'];
  return typeof after === 'string' && after !== '' ? after : null;
};

/** Unknown error codes count as temporary faults. */
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
