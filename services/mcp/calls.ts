import type { CallToolResult } from '@modelcontextprotocol/server';
import type { Caller } from '#application/access/key-lease-cache.ts';
import type { OperationDependencies } from '#operations/dependencies/dependencies.ts';
import { SlugReplaced } from '#operations/brands/find-brand.ts';
import { inputFault } from '#operations/endpoint/check-request.ts';
import { invoke, type InvokeInput, type InvokedReply } from '#operations/invoke.ts';
import { omitUndefined } from '#operations/endpoint/omit-undefined.ts';
import type { Thumbnails } from '#application/media/thumbnails.ts';
import { type ErrorCode, Refusal } from '#contracts/errors.ts';
import { createPlaces, type Places } from '#platform/concurrency/queues.ts';
import { hasTime, timeLeft } from '#platform/concurrency/time-budget.ts';
import type { Log } from '#platform/logger.ts';
import { PLANS } from '#contracts/values/access.ts';
import type { Allowance, RequestCounts } from '#application/access/request-counts.ts';
import type { Json } from './output/observed.ts';
import { readPictures } from './output/pictures.ts';
import type { Tool, ToolContext } from './tools/define-tool.ts';
import { asKnownAt, cleanText, errorResult, itemsInAll } from './output/result.ts';

export type McpCall = { readonly caller: Caller; readonly requestId: string; readonly now: number };

export type McpDependencies = OperationDependencies & { readonly thumbnails: Thumbnails };

/** Calls endpoints as this caller, in this caller's workspace. */
export const createToolContext = (
  { caller, requestId, now }: McpCall,
  dependencies: McpDependencies,
): ToolContext => ({
  caller,
  now,
  clock: dependencies.clock,
  baseUrl: dependencies.baseUrl,
  cursors: dependencies.cursors,
  pictures: (creatives, asked) => readPictures(creatives, asked, dependencies),
  call: async (endpoint, { params = {}, query = {}, body } = {}) => {
    const workspace = endpoint.path.includes('{ws}') ? { ws: caller.workspaceId } : {};
    const input = { params: { ...workspace, ...params }, query: omitUndefined(query), body };
    const run = (named: InvokeInput): Promise<InvokedReply> =>
      invoke(endpoint, named, caller, dependencies, { requestId });
    const reply = await run(input).catch((error: unknown) => {
      if (error instanceof SlugReplaced) return run(error.applyTo(input));
      throw error;
    });
    return {
      data: JSON.parse(reply.data) as Json,
      asOf: reply.asOf,
      cursor: reply.cursor,
      past: reply.past ?? null,
      notes: [
        ...(reply.past === undefined ? [] : [asKnownAt(query, reply.past)]),
        ...(reply.total === undefined || reply.cursor === null ? [] : [itemsInAll(reply.total)]),
      ],
    };
  },
});

const DETAILS_MAX = 5;

export class CallTimeout extends Error {}

/** For refusals whose message does not say what to do. */
const ADVICE: Partial<Readonly<Record<ErrorCode, string>>> = {
  brand_unknown: '`find_brands` searches brands by name.',
  not_found: 'Check the id; `search` and `find_brands` return ids.',
  scope_missing: 'The connection or the role of the member does not allow this.',
};

const READ_LATE = 'The call took too long. Ask for fewer parts or a smaller limit.';
/** A timed-out write may still be recorded. */
const WRITE_LATE = 'The call took too long. The change may have been made: look before you repeat it.';

/** True when the time of the call, or of its request, was used up. */
const isLate = (error: unknown): boolean =>
  error instanceof CallTimeout || (!hasTime() && error instanceof Refusal && error.code === 'overloaded');

/** Only refusals are worded. Other errors get a constant text with the request id, because they may hold internals. */
export const sentenceOf = (error: unknown, requestId: string, log: Log, isWrite = false): string => {
  if (isLate(error)) return isWrite ? WRITE_LATE : READ_LATE;
  if (!(error instanceof Refusal) || error.code === 'internal') {
    log.error({ err: error, request_id: requestId }, 'call failed');
    return `Internal error. Try again, and report the request id ${requestId}.`;
  }
  const faults: readonly string[] = error.details
    .slice(0, DETAILS_MAX)
    .map(({ path, message }) => (path === '' ? message : `${path}: ${message}`))
    .filter((fault) => !error.message.includes(fault));
  // The message of a rejected input only refers to its details.
  const isRejected = error.code === 'invalid_input' && faults.length > 0;
  const message = isRejected
    ? `The input was rejected: ${faults.join('; ')}.`
    : [error.message, ...faults].join(' ');
  const advice = ADVICE[error.code];
  return cleanText(advice === undefined ? message : `${message} ${advice}`);
};

export const CALLS_AT_ONCE_MAX = 8;
/** Time from the arrival of a request to its reply; a call may read several endpoints. */
export const CALL_BUDGET_MS = 20_000;
/** Counts against the member in the workspace over all connections. Counts nothing when not everything fits. */
export const takeRequests = (
  { workspaceId, memberId, plan }: Caller,
  cost: number,
  requestCounts: RequestCounts,
): Allowance | null => {
  const [key, limit] = [`${workspaceId}+${memberId}`, PLANS[plan].requestsPerMinute];
  let last: Allowance | null = null;
  for (let taken = 0; taken < cost; taken += 1) {
    last = requestCounts.take(key, limit);
    if (last.allowed) continue;
    for (; taken > 0; taken -= 1) requestCounts.giveBack(key);
    return last;
  }
  return last;
};

export const createCallSlots = (): Pick<Places, 'take'> =>
  createPlaces({
    max: Number.POSITIVE_INFINITY,
    perKey: CALLS_AT_ONCE_MAX,
    refuse: () => new Refusal('limit_reached', `At most ${CALLS_AT_ONCE_MAX} calls run at once.`),
  });

/** Throws `CallTimeout` at `timeoutMs` or the end of the request's time, and ends the call's waits. */
export const withinCallTime = async <T>(call: Promise<T>, timeoutMs = CALL_BUDGET_MS): Promise<T> => {
  const timeout = Promise.withResolvers<never>();
  const timer = setTimeout(() => timeout.reject(new CallTimeout('call timed out')), timeLeft(timeoutMs));
  try {
    return await Promise.race([call, timeout.promise]);
  } finally {
    clearTimeout(timer);
    call.catch(() => undefined);
  }
};

const FAULTS_MAX = 5;
const FAULT_MAX_LENGTH = 500;

export const callTool = async (
  { input, run, kind }: Tool,
  args: unknown,
  call: McpCall,
  dependencies: McpDependencies,
): Promise<CallToolResult> => {
  const checked = input.safeParse(args ?? {}, { error: inputFault });
  if (!checked.success) {
    const faults = checked.error.issues
      .slice(0, FAULTS_MAX)
      .map(({ path, message }) =>
        cleanText(`${path.join('.') || 'arguments'}: ${message}`).slice(0, FAULT_MAX_LENGTH),
      );
    return errorResult(`The arguments were rejected. ${faults.join('; ')}.`);
  }
  try {
    return await withinCallTime(run(checked.data as never, createToolContext(call, dependencies)));
  } catch (error) {
    return errorResult(sentenceOf(error, call.requestId, dependencies.log, kind === 'writer'));
  }
};
