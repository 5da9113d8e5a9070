import { hash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { MIMEType } from 'node:util';
import type { Collector } from '#application/collectors/collector-keys.ts';
import { validateObservation } from '#application/observations/validate-observation.ts';
import { type ErrorDetail, Refusal } from '#contracts/errors.ts';
import type { IntakeDetailCode, ObservationsReply, RefusedLine } from '#contracts/intake.ts';
import {
  OBSERVATION_MAX_BYTES,
  OBSERVATION_TYPES,
  type Observation,
  keyOf,
} from '#contracts/observations/index.ts';
import { routingHeadersOf } from '#contracts/messages/observation-headers.ts';
import { observationSubject } from '#contracts/messages/subjects.ts';
import { requireTime, timeLeft } from '#platform/concurrency/time-budget.ts';
import type { Log } from '#platform/logger.ts';
import { type ObservationPublication, checkInLargeBody } from '#platform/nats/claim-check.ts';
import { type Nats, headersFrom } from '#platform/nats/connection.ts';
import { ensureStreams } from '#platform/nats/streams.ts';
import { currentTraceparent } from '#platform/telemetry/tracing.ts';
import { intakeLines } from '#platform/telemetry/metrics.ts';
import { IntakeRefusal } from './server/refusal.ts';
import { type BodyLimits, readWholeBody } from './server/request-body.ts';

export const LINES_MAX = 1_000;

const NEWLINE = 0x0a;
const BLANK = new Set([0x09, 0x0d, 0x20]);

export type Line = { readonly number: number; readonly bytes: Buffer };

const isBlank = (bytes: Buffer): boolean => bytes.every((byte) => BLANK.has(byte));

/** Omits blank lines. Throws `invalid_request` without lines, `too_large` for too many. */
export const readLines = (body: Buffer): readonly Line[] => {
  const lines: Line[] = [];
  let number = 0;
  for (let start = 0; start < body.length; ) {
    const newline = body.indexOf(NEWLINE, start);
    const end = newline === -1 ? body.length : newline;
    const bytes = body.subarray(start, end);
    number += 1;
    start = end + 1;
    if (isBlank(bytes)) continue;
    if (lines.length === LINES_MAX) {
      throw new IntakeRefusal('too_large', `The body has more than ${LINES_MAX} lines. Send smaller parts.`);
    }
    lines.push({ number, bytes });
  }
  if (lines.length > 0) return lines;
  throw new IntakeRefusal('invalid_request', 'The body has no line. Send one JSON object per line.');
};

export type CheckedLine =
  | {
      readonly outcome: 'valid';
      readonly line: Line;
      readonly input: unknown;
      readonly observation: Observation;
    }
  | { readonly outcome: 'refused'; readonly refused: RefusedLine }
  | { readonly outcome: 'not_granted'; readonly detail: ErrorDetail<IntakeDetailCode> };

/** Rejects invalid UTF-8: a replacement character would be stored as text of an ad. */
const UTF8 = new TextDecoder('utf-8', { fatal: true });

const collectorOf = (observation: Observation): { readonly path: string; readonly name: string } | null => {
  switch (observation.type) {
    case 'ad_library.scan_end':
      return { path: 'coverage.collector', name: observation.coverage.collector };
    case 'storefront.scan_end':
    case 'site.scan':
      return { path: 'collector', name: observation.collector };
    case 'ad_library.scan':
    case 'brand.profile':
    case 'category.define':
    case 'creative.analysis':
    case 'creative.file':
    case 'landing_page.classify':
    case 'landing_page.scrape':
    case 'operator.record':
    case 'social_page.link':
    case 'social_page.profile':
    case 'storefront.scan':
    case 'traffic.estimate':
      return null;
  }
};

const parse = (bytes: Buffer): { readonly input: unknown } | Omit<RefusedLine, 'line'> => {
  if (bytes.length > OBSERVATION_MAX_BYTES) {
    const message = `The observation is larger than ${OBSERVATION_MAX_BYTES} bytes. Send smaller chunks.`;
    return { path: '', code: 'too_large', message };
  }
  try {
    return { input: JSON.parse(UTF8.decode(bytes)) as unknown };
  } catch {
    const message = 'The line is not a JSON object in UTF-8. Send one JSON object per line.';
    return { path: '', code: 'not_json', message };
  }
};

const typeOf = (input: unknown): string | null => {
  const type = typeof input === 'object' && input !== null ? (input as { type?: unknown }).type : null;
  return typeof type === 'string' && (OBSERVATION_TYPES as readonly string[]).includes(type) ? type : null;
};

export const checkLine = (line: Line, { name, types }: Collector): CheckedLine => {
  const refuse = (fault: Omit<RefusedLine, 'line'>): CheckedLine => ({
    outcome: 'refused',
    refused: { line: line.number, ...fault },
  });
  const parsed = parse(line.bytes);
  if (!('input' in parsed)) return refuse(parsed);
  const { input } = parsed;
  const type = typeOf(input);
  if (type !== null && types !== null && !types.has(type)) {
    const message = `This key may not send \`${type}\`. Leave it out, or ask the operator for a key with this type.`;
    return {
      outcome: 'not_granted',
      detail: { path: `lines.${line.number}.type`, message, code: 'type_not_granted' },
    };
  }
  let observation: Observation;
  try {
    observation = validateObservation(input);
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    const [first] = error.details;
    const more = error.details.length > 1 ? ` (and ${error.details.length - 1} more)` : '';
    return refuse({
      path: first?.path ?? '',
      code: first?.code ?? 'invalid',
      message: `${first?.message ?? error.message}${more}`,
    });
  }
  const collector = collectorOf(observation);
  if (collector !== null && !collector.name.startsWith(name)) {
    const message = `The collector of a scan begins with the name of the key, "${name}".`;
    return refuse({ path: collector.path, code: 'collector_name', message });
  }
  return { outcome: 'valid', line, input, observation };
};

/** Maximum concurrent messages. A failure stops after this window, so few messages are out of order. */
const WINDOW_MESSAGES = 64;
const WINDOW_MAX_BYTES = 4 * 1024 * 1024;
const PUBLISH_TIMEOUT_MS = 5_000;
/** Retry delay of a collector while NATS is down or the queue is full. */
const RETRY_SECONDS = 5;
const RETRY_FULL_SECONDS = 60;
/** Maximum length of a key in a subject: NATS closes the connection on subjects of thousands of bytes. */
const SUBJECT_KEY_MAX_CHARACTERS = 256;
/** Error code of JetStream for a stream at its limit. */
const STREAM_FULL = 10_077;

export type QueuedLine = {
  readonly bytes: Buffer;
  readonly input: unknown;
  readonly observation: Observation;
};

const windowsOf = (lines: readonly QueuedLine[]): readonly (readonly QueuedLine[])[] => {
  const windows: QueuedLine[][] = [];
  let bytes = Number.POSITIVE_INFINITY;
  for (const line of lines) {
    if (bytes + line.bytes.length > WINDOW_MAX_BYTES || (windows.at(-1)?.length ?? 0) >= WINDOW_MESSAGES) {
      windows.push([]);
      bytes = 0;
    }
    windows.at(-1)?.push(line);
    bytes += line.bytes.length;
  }
  return windows;
};

/** Stores a large body; the message then refers to it. */
const publicationOf = (
  nats: Nats,
  { bytes, input, observation }: QueuedLine,
): Promise<ObservationPublication> => {
  const traceparent = currentTraceparent();
  const publication = {
    subject: observationSubject(keyOf(observation).slice(0, SUBJECT_KEY_MAX_CHARACTERS)),
    data: bytes,
    // A content hash, so that JetStream drops a line that is sent again within ten minutes.
    msgID: hash('sha256', bytes, 'hex'),
    headers: { ...routingHeadersOf(input), ...(traceparent === undefined ? {} : { traceparent }) },
  };
  return checkInLargeBody(nats, publication, { timeout: timeLeft(PUBLISH_TIMEOUT_MS) });
};

const publishWindow = async (nats: Nats, window: readonly QueuedLine[]): Promise<void> => {
  const publications = await Promise.all(window.map((line) => publicationOf(nats, line)));
  const outcomes = await Promise.allSettled(
    publications.map(({ subject, data, headers, msgID }) =>
      nats.jetstream.publish(subject, data, {
        ...(msgID === undefined ? {} : { msgID }),
        headers: headersFrom(headers),
        timeout: timeLeft(PUBLISH_TIMEOUT_MS),
      }),
    ),
  );
  for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason;
};

const isFull = (error: unknown): boolean =>
  (error as { api_error?: { err_code?: number } }).api_error?.err_code === STREAM_FULL;

/** Returns once the stream has stored all lines. Throws `unavailable` otherwise; sending them again is harmless. */
export const publishLines = async (nats: Nats, lines: readonly QueuedLine[], log: Log): Promise<void> => {
  for (const window of windowsOf(lines)) {
    requireTime();
    try {
      await publishWindow(nats, window);
    } catch (error) {
      log.warn({ err: error }, 'observations not queued');
      const full = isFull(error);
      // A server that restarted without its storage has no stream.
      if (!full) ensureStreams(nats).catch(() => undefined);
      throw new IntakeRefusal(
        'unavailable',
        `${full ? 'The queue is full.' : 'The queue does not answer.'} Send the whole request again later; no line is recorded twice.`,
        { retryAfterSeconds: full ? RETRY_FULL_SECONDS : RETRY_SECONDS },
      );
    }
  }
};

export const OBSERVATIONS_MAX_BYTES = 16 * 1024 * 1024;
const DETAILS_MAX = 20;
/** Lines checked per turn of the event loop: a few milliseconds of work. */
const LINES_PER_TURN = 20;

const TYPES = new Set(['application/x-ndjson', 'application/ndjson', 'application/jsonl']);

const requireLines = (contentType: string | undefined): void => {
  try {
    const { essence, params } = new MIMEType(contentType ?? '');
    if (TYPES.has(essence) && (params.get('charset') ?? 'utf-8').toLowerCase() === 'utf-8') return;
  } catch {
    // The header is missing or malformed.
  }
  throw new IntakeRefusal(
    'unsupported_content',
    'Send `content-type: application/x-ndjson`: one JSON object per line, in UTF-8.',
  );
};

export type Receiving = {
  readonly nats: Nats;
  readonly log: Log;
  /** Throws when the key was revoked while the body arrived. */
  readonly requireKey: () => Promise<unknown>;
  readonly limits: BodyLimits;
};

/** Queues the valid lines of a body. Replies only after the queue has stored them. */
export const receiveObservations = async (
  request: IncomingMessage,
  collector: Collector,
  { nats, log, requireKey, limits }: Receiving,
): Promise<ObservationsReply> => {
  requireLines(request.headers['content-type']);
  const lines = readLines(await readWholeBody(request, limits));
  const queued: QueuedLine[] = [];
  const refused: RefusedLine[] = [];
  const notGranted: ErrorDetail<IntakeDetailCode>[] = [];
  for (const [index, line] of lines.entries()) {
    if (index % LINES_PER_TURN === 0) await nextTurn();
    const checked = checkLine(line, collector);
    switch (checked.outcome) {
      case 'valid':
        queued.push({ bytes: line.bytes, input: checked.input, observation: checked.observation });
        break;
      case 'refused':
        refused.push(checked.refused);
        break;
      case 'not_granted':
        notGranted.push(checked.detail);
        break;
    }
  }
  if (notGranted.length > 0) {
    throw new IntakeRefusal(
      'type_not_granted',
      `${notGranted.length} lines have a type that this key may not send. Nothing was taken.`,
      { details: notGranted.slice(0, DETAILS_MAX) },
    );
  }
  await requireKey();
  await publishLines(nats, queued, log);
  for (const { observation } of queued) intakeLines.inc({ type: observation.type, outcome: 'accepted' });
  if (refused.length > 0) intakeLines.inc({ type: 'unknown', outcome: 'refused' }, refused.length);
  return { accepted: queued.length, refused };
};
