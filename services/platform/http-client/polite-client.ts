import { createRequire } from 'node:module';
import { DAY_MS, HOUR_MS } from '#contracts/values/time.ts';
import { type Clock, pause } from '../clock.ts';
import { BlockedTarget } from '../egress/ssrf-guard.ts';
import {
  type Answer,
  BODY_MAX_BYTES,
  REDIRECTS_MAX,
  type Route,
  nextLocation,
  requestOnce,
  requireTarget,
} from './request-once.ts';
import { retryAfterMs } from '../channels/send-outcome.ts';
import { createKeyedMutex } from '../concurrency/queues.ts';
import type { BotKey } from './bot-key.ts';

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
const fetchRobots = async (
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
    const answer = await fetchRobots(reader, origin, previous?.verdict === 'rules' ? previous : null);
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

/** As stored for later requests. */
export type StoredRobots = {
  /** `forbidden`: the server failed, so that nothing may be requested (RFC 9309, 2.3.1.4). */
  readonly verdict: 'rules' | 'forbidden';
  readonly text: string;
  /** Milliseconds since 1970. */
  readonly validUntilMs: number;
  readonly etag: string | null;
  readonly lastModified: string | null;
};

/** A host that refused is not requested until then. Times are milliseconds since 1970. */
export type HostRest = { readonly untilMs: number; readonly refusals: number; readonly reason: string };

/** Outlives restarts and is shared: two processes are as polite as one. `host`: a name, and its port if any. */
export type HostMemory = {
  readRobots(host: string): Promise<StoredRobots | null>;
  writeRobots(host: string, robots: StoredRobots): Promise<void>;
  readRest(host: string): Promise<HostRest | null>;
  /** `null` ends a rest and forgets the refusals. */
  writeRest(host: string, rest: HostRest | null): Promise<void>;
  /** Returns the start time, at least `spacingMs` after the one before and not before `nowMs`. */
  reserve(host: string, spacingMs: number, nowMs: number): Promise<number>;
};

/** Between the starts of two requests to a host. A file of its own, because forecasts need not load the client. */
export const PACE_MS = 5_000;

/** A longer `Crawl-delay` counts as this. */
export const CRAWL_DELAY_MAX_MS = 60_000;
/** Shortest rest after a 429, also without a usable `Retry-After`. */
const BUSY_REST_MS = HOUR_MS;
const BUSY_REST_MIN_MS = 60_000;
/** HTTP statuses that refuse this service, and not only one page. */
const REFUSALS: ReadonlySet<number> = new Set([401, 403, 423, 430]);
const REFUSED_REST_MS = DAY_MS;
/** After this number of refusals in a row the host rests for a week. */
const REFUSALS_MAX = 3;
const LONG_REST_MS = 7 * DAY_MS;
const ACCEPT = 'application/json, text/html;q=0.5';

/** `ETag` and `Last-Modified` for a conditional request (RFC 9110, 13). */
export type Validators = { readonly etag: string | null; readonly lastModified: string | null };

export type GetOutcome =
  | {
      readonly kind: 'answered';
      readonly status: number;
      readonly headers: Answer['headers'];
      readonly body: Buffer;
      readonly url: URL;
    }
  | { readonly kind: 'unchanged' }
  /** The robots.txt forbids the URL, or could not be read. */
  | { readonly kind: 'forbidden'; readonly reason: string }
  /** The host refused, now or before, and is not requested until this time. */
  | { readonly kind: 'resting'; readonly untilMs: number; readonly reason: string }
  | { readonly kind: 'failed'; readonly reason: string };

export type PoliteClient = {
  /** Sends a GET by the rules of its hosts. Throws only when `signal` is aborted. */
  get(
    url: string,
    options: {
      readonly signal: AbortSignal;
      readonly validators?: Validators;
      /** Absent: JSON, or HTML. */
      readonly accept?: string;
    },
  ): Promise<GetOutcome>;
};

export type PoliteClientOptions = Route & {
  readonly hosts: HostMemory;
  readonly clock: Clock;
  /** Names the service and a contact. */
  readonly userAgent: string;
  /** Absent or `null` leaves requests unsigned. */
  readonly botKey?: BotKey | null;
  /** 0 for a played world, which ignores `Crawl-delay` too. */
  readonly paceMs?: number;
};

const refusedRest = (previous: HostRest | null, status: number, nowMs: number): HostRest => {
  const refusals = (previous?.refusals ?? 0) + 1;
  const restMs = refusals >= REFUSALS_MAX ? LONG_REST_MS : REFUSED_REST_MS;
  return { untilMs: nowMs + restMs, refusals, reason: `answered ${status}` };
};

const busyRest = (previous: HostRest | null, answer: Answer, now: Date): HostRest => {
  const requestedMs = retryAfterMs(answer.headers['retry-after'], now);
  const restMs = Math.max(requestedMs ?? BUSY_REST_MS, BUSY_REST_MIN_MS);
  return { untilMs: now.getTime() + restMs, refusals: previous?.refusals ?? 0, reason: 'answered 429' };
};

const conditionsOf = ({ etag, lastModified }: Validators): Record<string, string> => ({
  ...(etag === null ? {} : { 'if-none-match': etag }),
  ...(lastModified === null ? {} : { 'if-modified-since': lastModified }),
});

const reasonOf = (error: unknown): string => {
  const { name, code, message } = error as { name?: string; code?: string; message?: string };
  if (name === 'TimeoutError') return 'took too long';
  return `${code === undefined ? '' : `${code}: `}${message ?? String(error)}`.slice(0, 300);
};

/**
 * Reads sites that did not ask for it: one request at a time per host. Each request and redirect obeys robots.txt,
 * names a contact and passes the SSRF guard.
 */
export const createPoliteClient = (options: PoliteClientOptions): PoliteClient => {
  const { hosts, clock, userAgent, botKey = null, paceMs = PACE_MS } = options;
  const serialize = createKeyedMutex();

  const send = async (
    url: URL,
    delayMs: number,
    request: {
      readonly headers: Record<string, string>;
      readonly maxBytes: number;
      readonly overflow: 'fail' | 'cut';
    },
    signal: AbortSignal,
  ): Promise<Answer> => {
    if (paceMs > 0) {
      const nowMs = clock.now().getTime();
      await pause((await hosts.reserve(url.host, delayMs, nowMs)) - nowMs, signal);
    }
    signal.throwIfAborted();
    const headers = {
      'user-agent': userAgent,
      ...request.headers,
      ...(botKey === null ? {} : await botKey.sign(url, clock.now())),
    };
    return requestOnce(options, url, { ...request, headers, signal });
  };

  /** Returns the rest that the answer began. */
  const recordRest = async (
    url: URL,
    previous: HostRest | null,
    answer: Answer,
  ): Promise<HostRest | null> => {
    const now = clock.now();
    const rest = REFUSALS.has(answer.status)
      ? refusedRest(previous, answer.status, now.getTime())
      : answer.status === 429
        ? busyRest(previous, answer, now)
        : null;
    if (rest !== null || (previous !== null && answer.status < 400)) await hosts.writeRest(url.host, rest);
    return rest;
  };

  const step = async (
    url: URL,
    { validators, accept }: { readonly validators: Validators; readonly accept: string },
    signal: AbortSignal,
  ): Promise<GetOutcome> => {
    requireTarget(options, url);
    const rest = await hosts.readRest(url.host);
    if (rest !== null && rest.untilMs > clock.now().getTime()) return { kind: 'resting', ...rest };
    const robots = await readRobots(
      { hosts, clock, send: (target, request) => send(target, paceMs, request, signal) },
      url,
    );
    if (robots.kind === 'busy') {
      const begun = busyRest(rest, robots.answer, clock.now());
      await hosts.writeRest(url.host, begun);
      return { kind: 'resting', ...begun };
    }
    if (robots.kind === 'forbidden') return robots;
    if (!robots.rules.allows(url)) return { kind: 'forbidden', reason: `robots.txt forbids ${url.pathname}` };
    const crawlDelayMs = (robots.rules.crawlDelaySeconds ?? 0) * 1_000;
    const delayMs = Math.max(paceMs, Math.min(crawlDelayMs, CRAWL_DELAY_MAX_MS));
    const request = {
      headers: { accept, ...conditionsOf(validators) },
      maxBytes: BODY_MAX_BYTES,
      overflow: 'fail' as const,
    };
    const answer = await send(url, delayMs, request, signal);
    const begun = await recordRest(url, rest, answer);
    if (begun !== null) return { kind: 'resting', ...begun };
    if (answer.status === 304) return { kind: 'unchanged' };
    return { kind: 'answered', ...answer, url };
  };

  const follow = async (
    first: URL,
    asked: Parameters<typeof step>[1],
    signal: AbortSignal,
  ): Promise<GetOutcome> => {
    let url = first;
    for (let redirects = 0; redirects <= REDIRECTS_MAX; redirects += 1) {
      const target = url;
      const outcome = await serialize(target.host, () => step(target, asked, signal));
      if (outcome.kind !== 'answered') return outcome;
      const location = nextLocation(outcome, target);
      if (location === null) return outcome;
      url = location;
    }
    return { kind: 'failed', reason: `more than ${REDIRECTS_MAX} redirects` };
  };

  return {
    get: async (text, { signal, validators = { etag: null, lastModified: null }, accept = ACCEPT }) => {
      try {
        return await follow(new URL(text), { validators, accept }, signal);
      } catch (error) {
        signal.throwIfAborted();
        if (error instanceof BlockedTarget) return { kind: 'failed', reason: `blocked: ${error.message}` };
        return { kind: 'failed', reason: reasonOf(error) };
      }
    },
  };
};
