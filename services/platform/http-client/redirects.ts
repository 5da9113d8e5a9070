import type { Answer } from './request-once.ts';

export const REDIRECTS_MAX = 5;

const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

/** `null` when the response is not a redirect. Throws when the location is absent or is not a URL. */
export const nextLocation = (
  { status, headers }: Pick<Answer, 'status' | 'headers'>,
  from: URL,
): URL | null => {
  if (!REDIRECTS.has(status)) return null;
  const location = headers['location'] ?? '';
  if (location === '' || !URL.canParse(location, from.href))
    throw new Error('A redirect has no valid location.');
  const to = new URL(location, from.href);
  to.hash = '';
  return to;
};
