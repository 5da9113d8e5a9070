import type { IncomingMessage } from 'node:http';
import { MIMEType } from 'node:util';
import type { z } from 'zod';
import type { Collector } from '#application/collectors/collector-keys.ts';
import {
  LeaseTasks,
  type LeaseTasksReply,
  TASK_RULES,
  TaskDone,
  type TaskEndReply,
  TaskFailed,
} from '#contracts/intake.ts';
import { Uuid } from '#contracts/values/primitives.ts';
import type { Clock } from '#platform/clock.ts';
import type { Log } from '#platform/logger.ts';
import type { Database } from '#platform/postgres/pool.ts';
import { serverFaultOf } from '#platform/server-fault.ts';
import { intakeTasks } from '#platform/telemetry/metrics.ts';
import { IntakeRefusal } from '../server/refusal.ts';
import { readWholeBody } from '../server/request-body.ts';
import { endTask, leaseTasks, type TaskEnd } from './task-store.ts';

const BODY_MAX_BYTES = 16 * 1024;
export const TASK_BODY_TIMEOUT_MS = 10_000;
/** Retry delay while Postgres is down. */
const RETRY_SECONDS = 5;
const DETAILS_MAX = 20;

export type TaskRequests = {
  readonly database: Database;
  readonly taskClock: Clock | undefined;
  readonly log: Log;
  /** Throws when the key was revoked while the body arrived. */
  readonly requireKey: () => Promise<unknown>;
  readonly timeoutMs: number;
};

const UTF8 = new TextDecoder('utf-8', { fatal: true });

const requireJson = (contentType: string | undefined): void => {
  try {
    const { essence, params } = new MIMEType(contentType ?? '');
    if (essence === 'application/json' && (params.get('charset') ?? 'utf-8').toLowerCase() === 'utf-8')
      return;
  } catch {
    // The header is missing or malformed.
  }
  throw new IntakeRefusal('unsupported_content', 'Send `content-type: application/json`, in UTF-8.');
};

/** An absent body is an empty object. Throws `invalid_request` with the failing fields. */
const readJson = async <T>(request: IncomingMessage, schema: z.ZodType<T>, timeoutMs: number): Promise<T> => {
  const body = await readWholeBody(request, { maxBytes: BODY_MAX_BYTES, timeoutMs });
  let input: unknown = {};
  if (body.length > 0) {
    requireJson(request.headers['content-type']);
    try {
      input = JSON.parse(UTF8.decode(body));
    } catch {
      throw new IntakeRefusal('invalid_request', 'The body is not JSON in UTF-8. Send one JSON object.');
    }
  }
  const parsed = schema.safeParse(input);
  if (parsed.success) return parsed.data;
  const details = parsed.error.issues.slice(0, DETAILS_MAX).map(({ path, message, code }) => ({
    path: path.join('.'),
    message,
    code: code ?? 'invalid',
  }));
  throw new IntakeRefusal(
    'invalid_request',
    `The body is invalid: ${details[0]?.path || 'body'}: ${details[0]?.message}. Fix it and send it again.`,
    { details },
  );
};

/** Throws `unavailable` while Postgres is down, too slow, or rejects the statement. */
const whileAvailable = async <T>(log: Log, work: () => Promise<T>): Promise<T> => {
  try {
    return await work();
  } catch (error) {
    if (serverFaultOf(error) === null) throw error;
    log.warn({ err: error }, 'tasks not available');
    throw new IntakeRefusal('unavailable', 'Tasks cannot be read now. Send the request again later.', {
      retryAfterSeconds: RETRY_SECONDS,
    });
  }
};

export const receiveLeaseRequest = async (
  request: IncomingMessage,
  { name, types }: Collector,
  { database, taskClock, log, requireKey, timeoutMs }: TaskRequests,
): Promise<LeaseTasksReply> => {
  const { type, limit } = await readJson(request, LeaseTasks, timeoutMs);
  const missing = TASK_RULES[type].needs.filter((needed) => types !== null && !types.has(needed));
  if (missing.length > 0) {
    throw new IntakeRefusal(
      'type_not_granted',
      `Tasks of the type \`${type}\` need a key that may send ${missing.map((one) => `\`${one}\``).join(' and ')}. Ask the operator for one.`,
    );
  }
  await requireKey();
  const tasks = await whileAvailable(log, () =>
    leaseTasks(database, taskClock?.now() ?? null, { type, limit, collector: name }),
  );
  intakeTasks.inc({ type, outcome: 'leased' }, tasks.length);
  return { tasks: [...tasks] };
};

export const receiveTaskEnd = async (
  request: IncomingMessage,
  id: string,
  outcome: TaskEnd['outcome'],
  { name }: Collector,
  { database, taskClock, log, requireKey, timeoutMs }: TaskRequests,
): Promise<TaskEndReply> => {
  if (!Uuid.safeParse(id).success) {
    throw new IntakeRefusal('not_found', 'Task not found. The path has the `id` of a leased task.');
  }
  const end: TaskEnd =
    outcome === 'failed'
      ? { outcome, ...(await readJson(request, TaskFailed, timeoutMs)) }
      : { outcome, ...(await readJson(request, TaskDone, timeoutMs)) };
  await requireKey();
  const { type, changed } = await whileAvailable(log, () =>
    endTask(database, taskClock?.now() ?? null, { id, collector: name, end }),
  );
  if (changed) intakeTasks.inc({ type, outcome });
  return { id, outcome, changed };
};
