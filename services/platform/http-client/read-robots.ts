import { createRequire } from 'node:module';
import { DAY_MS, HOUR_MS } from '#contracts/values/time.ts';
import type { Clock } from '../clock.ts';
import { BlockedTarget } from '../egress/ssrf-guard.ts';
import type { HostMemory, StoredRobots } from './polite-client.ts';
import { type Answer, REDIRECTS_MAX, nextLocation } from './request-once.ts';

/** The CommonJS module's types declare a default export that it does not have. */
type RobotsParser = (
  url: string,
  text: string,
) => {
  isAllowed(url: string, userAgent: string): boolean | undefined;
  getCrawlDelay(userAgent: string): number | undefined;
};
const parseRobots = createRequire(import.meta.url)('robots-parser') as RobotsParser;

/** Name of this service in a robots.txt (RFC 9309, 2.2.1). */
export const ROBOT_NAME = 'ad-intelligence';
/** Limit of RFC 9309, 2.5. */
export const ROBOTS_MAX_BYTES = 500 * 1024;

/** Each wildcard takes time for each character of an address, and the site chooses both. */
const WILDCARDS_MAX = 10;
const RULE = /^(\s*(dis)?allow\s*:)(.*)$/i;

/** A rule with too many wildcards forbids what its beginning matches, and allows nothing. */
const boundedLine = (line: string): string => {
  const [, name, forbids, path = ''] = RULE.exec(line) ?? [];
  if (name === undefined) return line;
  const parts = path.replaceAll(/\*{2,}/g, '*').split('*');
  if (parts.length - 1 <= WILDCARDS_MAX) return `${name}${parts.join('*')}`;
  return forbids === undefined ? name : `${name}${parts.slice(0, WILDCARDS_MAX + 1).join('*')}`;
};

export type RobotsRules = {
  /** True only when the rules state it: a URL of another origin is not allowed. */
  allows(url: URL): boolean;
  /** `null` when the site requests no delay. */
  readonly crawlDelaySeconds: number | null;
};

export const robotsRulesOf = (origin: string, text: string): RobotsRules => {
  const lines = text.split(/\r\n|\r|\n/).map(boundedLine);
  const robots = parseRobots(`${origin}/robots.txt`, lines.join('\n'));
  const seconds = robots.getCrawlDelay(ROBOT_NAME);
  return {
    allows: (url) => robots.isAllowed(url.href, ROBOT_NAME) === true,
    crawlDelaySeconds: seconds !== undefined && Number.isFinite(seconds) && seconds >= 0 ? seconds : null,
  };
};

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
