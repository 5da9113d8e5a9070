import { z } from 'zod';
import { html, type PlayedHost, type PlayedReply, type PlayedRequest } from './played-host.ts';

/** More bytes than any client of the world accepts. */
const LARGE_BYTES = 17 * 1024 ** 2;
/** Nesting that overflows the stack of a recursive reader. */
const DEEP_LEVELS = 100_000;
const HUGE_SIDE = 50_000;
/** Addresses inside a network, to which a site may try to send its visitors. */
const INWARD = ['http://127.0.0.1:1/', 'http://169.254.169.254/latest/meta-data/', 'http://[::1]/'];

/** Each fault takes the place of an answer, or changes it. */
export const FAULT_KINDS = [
  /** Another status, with `retry_after` seconds. */
  'status',
  'html',
  'cut',
  'large',
  'network',
  'slow',
  /** A redirect to the password page of a closed shop. */
  'password',
  'wrong_types',
  'deep',
  /** A body in another charset than its header names. */
  'charset',
  /** Lists whose first entry comes twice. */
  'duplicate',
  'half',
  /** The first page again for every page. */
  'loop',
  'redirect_inward',
  'redirect_loop',
  'expired',
  'size_lie',
  'huge_picture',
] as const;

export const WorldFault = z.strictObject({
  /** `*` stands for all hosts. */
  host: z.string().min(1).max(253),
  /** Beginning of the paths that have it. */
  path: z.string().startsWith('/').max(500).default('/'),
  kind: z.enum(FAULT_KINDS),
  /** Number of answers that have it; `null`: all until the faults are cleared. */
  times: z.int().min(1).max(10_000).nullable().default(1),
  status: z.int().min(300).max(599).default(503),
  retry_after: z.int().min(0).max(1_000_000).nullable().default(null),
});
export type WorldFault = z.infer<typeof WorldFault>;
export type WorldFaultInput = z.input<typeof WorldFault>;

export type FaultyReply = PlayedReply & {
  readonly byteEveryMs?: number;
  /** The server closes the connection after the body. */
  readonly closes?: boolean;
};

const BYTE_EVERY_MS = 1_000;

const redirect = (location: string): FaultyReply => ({ status: 302, headers: { location }, body: '' });

const ofOtherType = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(ofOtherType);
  if (typeof value === 'object' && value !== null) {
    return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, ofOtherType(inner)]));
  }
  return typeof value === 'string' ? 7 : { was: String(value) };
};

type List = readonly unknown[];
const firstTwice = (list: List): List =>
  list.flatMap((entry, index) => (index === 0 ? [entry, entry] : [entry]));
const firstHalf = (list: List): List => list.slice(0, Math.ceil(list.length / 2));

const changeLists = (value: unknown, change: (list: List) => List): unknown => {
  if (Array.isArray(value)) return change(value);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [key, Array.isArray(inner) ? change(inner) : inner]),
  );
};

const withJson = (reply: PlayedReply, change: (value: unknown) => unknown): PlayedReply => {
  try {
    return { ...reply, body: JSON.stringify(change(JSON.parse(String(reply.body)))) };
  } catch {
    return reply;
  }
};

/** Returns the header of a PNG of `HUGE_SIDE` by `HUGE_SIDE` pixels, without pixels. */
const hugePicture = (): FaultyReply => {
  const head = Buffer.alloc(33);
  Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex').copy(head);
  head.writeUInt32BE(HUGE_SIDE, 16);
  head.writeUInt32BE(HUGE_SIDE, 20);
  head.set([8, 6, 0, 0, 0], 24);
  return { status: 200, headers: { 'content-type': 'image/png' }, body: head };
};

const faulty = (
  fault: WorldFault,
  request: PlayedRequest,
  host: PlayedHost,
  count: number,
): FaultyReply | null => {
  /** Returns the answer in full, also to a conditional request, and without its ETag: the fault changes it. */
  const reply = (asked: PlayedRequest = request): PlayedReply => {
    const conditionless = { ...asked, headers: { ...asked.headers, 'if-none-match': undefined } };
    const answer = host(conditionless) ?? { status: 500, headers: {}, body: '' };
    const { etag: _, ...headers } = answer.headers;
    return { ...answer, headers };
  };
  switch (fault.kind) {
    case 'status':
      return {
        status: fault.status,
        headers: fault.retry_after === null ? {} : { 'retry-after': String(fault.retry_after) },
        body: 'Played fault',
      };
    case 'html':
      return html('<!doctype html><title>Sorry</title><p>Something went wrong.</p>');
    case 'cut': {
      const { body, ...rest } = reply();
      return { ...rest, body: body.slice(0, Math.max(0, body.length - 10)) };
    }
    case 'large':
      return { ...reply(), body: Buffer.alloc(LARGE_BYTES, 0x20) };
    case 'network':
      return null;
    case 'slow':
      return { ...reply(), byteEveryMs: BYTE_EVERY_MS };
    case 'password':
      return redirect('/password');
    case 'wrong_types':
      return withJson(reply(), ofOtherType);
    case 'deep':
      return { ...reply(), body: '['.repeat(DEEP_LEVELS) };
    case 'charset': {
      const { body, ...rest } = reply();
      return { ...rest, body: Buffer.from(String(body), 'utf16le') };
    }
    case 'duplicate':
      return withJson(reply(), (value) => changeLists(value, firstTwice));
    case 'half':
      return withJson(reply(), (value) => changeLists(value, firstHalf));
    case 'loop':
      return reply({ ...request, path: request.path.replace(/([?&]page=)\d+/, '$11') });
    case 'redirect_inward':
      return redirect(INWARD[count % INWARD.length] as string);
    case 'redirect_loop':
      return redirect(request.path);
    case 'expired':
      return { status: 403, headers: { 'content-type': 'text/plain' }, body: 'URL signature expired' };
    case 'size_lie': {
      const whole = reply();
      const bytes = Buffer.byteLength(whole.body);
      const headers = { ...whole.headers, 'content-length': String(bytes + 1_000) };
      return { ...whole, headers, closes: true };
    }
    case 'huge_picture':
      return hugePicture();
  }
};

export type WorldFaults = {
  add(faults: readonly WorldFaultInput[]): void;
  clear(): void;
  /** The first fault that fits the request changes the answer. */
  answer(request: PlayedRequest, host: PlayedHost): FaultyReply | null;
};

export const createWorldFaults = (): WorldFaults => {
  let faults: { readonly fault: WorldFault; left: number }[] = [];
  let played = 0;
  return {
    add: (added) => {
      const parsed = added.map((fault) => WorldFault.parse(fault));
      faults.push(...parsed.map((fault) => ({ fault, left: fault.times ?? Number.POSITIVE_INFINITY })));
    },
    clear: () => {
      faults = [];
    },
    answer: (request, host) => {
      const found = faults.find(
        ({ fault }) =>
          (fault.host === '*' || fault.host === request.host) && request.path.startsWith(fault.path),
      );
      if (found === undefined) return host(request);
      found.left -= 1;
      played += 1;
      if (found.left <= 0) faults = faults.filter((one) => one !== found);
      return faulty(found.fault, request, host, played);
    },
  };
};
