import { DAY_MS, HOUR_MS } from '#contracts/values/time.ts';
import type { Clock } from '../clock.ts';
import { BlockedTarget } from '../egress/ssrf-guard.ts';
import type { HostMemory, StoredRobots } from './host-memory.ts';
import { nextLocation, REDIRECTS_MAX } from './redirects.ts';
import type { Answer } from './request-once.ts';
import { ROBOTS_MAX_BYTES, type RobotsRules, robotsRulesOf } from './robots-rules.ts';

/** A robots.txt applies this long (RFC 9309, 2.4). */
export const ROBOTS_VALID_MS = DAY_MS;
/** A robots.txt that could not be read is requested again after this. */
export const ROBOTS_RETRY_MS = HOUR_MS;

export type RobotsRequest = {
  readonly headers: Record<string, string>;
  readonly maxBytes: number;
  readonly overflow: 'cut';
};

export type RobotsReader = {
  readonly hosts: HostMemory;
  readonly clock: Clock;
  readonly send: (url: URL, request: RobotsRequest) => Promise<Answer>;
};

export type RobotsOutcome =
  | { readonly kind: 'rules'; readonly rules: RobotsRules }
  | { readonly kind: 'forbidden'; readonly reason: string }
  /** The host answered 429, to be left alone for a while. */
  | { readonly kind: 'busy'; readonly answer: Answer };

/** Redirects all count for the first host (RFC 9309, 2.3.1.2). */
const request = async (
  { send }: RobotsReader,
  origin: string,
  previous: StoredRobots | null,
): Promise<Answer> => {
  let url = new URL('/robots.txt', origin);
  const headers: Record<string, string> = {
    accept: 'text/plain, */*;q=0.1',
    ...(previous?.etag == null ? {} : { 'if-none-match': previous.etag }),
    ...(previous?.lastModified == null ? {} : { 'if-modified-since': previous.lastModified }),
  };
  for (let redirects = 0; redirects <= REDIRECTS_MAX; redirects += 1) {
    const answer = await send(url, { headers, maxBytes: ROBOTS_MAX_BYTES, overflow: 'cut' });
    const location = nextLocation(answer, url);
    if (location === null) return answer;
    url = location;
  }
  throw new Error(`more than ${REDIRECTS_MAX} redirects`);
};

const outcomeOf = ({ verdict, text }: StoredRobots, origin: string): RobotsOutcome =>
  verdict === 'forbidden'
    ? { kind: 'forbidden', reason: `robots.txt could not be read: ${text}` }
    : { kind: 'rules', rules: robotsRulesOf(origin, text) };

/** A missing robots.txt (4xx) allows everything; a failing server nothing. */
const storedOf = (answer: Answer, previous: StoredRobots | null, nowMs: number): StoredRobots => {
  const { status, headers, body } = answer;
  const validUntilMs = nowMs + ROBOTS_VALID_MS;
  if (status === 304 && previous?.verdict === 'rules') return { ...previous, validUntilMs };
  const validators = { etag: headers['etag'] ?? null, lastModified: headers['last-modified'] ?? null };
  if (status >= 200 && status < 300) {
    // Postgres text cannot hold the character 0.
    const text = body.toString('utf8').replaceAll('\0', '');
    return { verdict: 'rules', text, validUntilMs, ...validators };
  }
  const none = { etag: null, lastModified: null };
  if (status >= 400 && status < 500) return { verdict: 'rules', text: '', validUntilMs, ...none };
  return { verdict: 'forbidden', text: `answered ${status}`, validUntilMs: nowMs + ROBOTS_RETRY_MS, ...none };
};

/** From the memory or the site, for 24 hours. Throws when the request is aborted. */
export const readRobots = async (reader: RobotsReader, { host, origin }: URL): Promise<RobotsOutcome> => {
  const { hosts, clock } = reader;
  const previous = await hosts.readRobots(host);
  if (previous !== null && previous.validUntilMs > clock.now().getTime()) return outcomeOf(previous, origin);
  let stored: StoredRobots;
  try {
    const answer = await request(reader, origin, previous?.verdict === 'rules' ? previous : null);
    if (answer.status === 429) return { kind: 'busy', answer };
    stored = storedOf(answer, previous, clock.now().getTime());
  } catch (error) {
    if ((error as Error).name === 'AbortError' || error instanceof BlockedTarget) throw error;
    const { message } = error as Error;
    const validUntilMs = clock.now().getTime() + ROBOTS_RETRY_MS;
    stored = {
      verdict: 'forbidden',
      text: message.slice(0, 300),
      validUntilMs,
      etag: null,
      lastModified: null,
    };
  }
  await hosts.writeRobots(host, stored);
  return outcomeOf(stored, origin);
};
