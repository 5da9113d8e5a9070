import type { IncomingMessage } from 'node:http';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { MIMEType } from 'node:util';
import type { Collector } from '#application/collectors/collector-keys.ts';
import type { ErrorDetail } from '#contracts/errors.ts';
import type { ObservationsReply, RefusedLine } from '#contracts/intake.ts';
import type { Log } from '#platform/logger.ts';
import type { Nats } from '#platform/nats/connection.ts';
import { intakeLines } from '#platform/telemetry/metrics.ts';
import { IntakeRefusal } from '../server/refusal.ts';
import { type BodyLimits, readWholeBody } from '../server/request-body.ts';
import { type QueuedLine, checkLine, publishLines, readLines } from './publish-lines.ts';

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
  const notGranted: ErrorDetail[] = [];
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
