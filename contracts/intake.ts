import { z } from 'zod';
import type { DetailCode } from './errors.ts';
import { Cadence, Count, Timestamp, Uuid } from './values/primitives.ts';
import type { ObservationType } from './observations/index.ts';

/**
 * Error codes of the intake with type and status. They are apart from `contracts/errors.ts`, which is part of the public
 * contract: the intake is not, and has statuses that the API does not have. The error body is the same.
 */
export const INTAKE_ERRORS = {
  invalid_request: { type: 'bad_request', status: 400 },
  unauthorized: { type: 'unauthorized', status: 401 },
  type_not_granted: { type: 'forbidden', status: 403 },
  not_found: { type: 'not_found', status: 404 },
  hash_mismatch: { type: 'conflict', status: 409 },
  lease_lost: { type: 'conflict', status: 409 },
  task_ended: { type: 'conflict', status: 409 },
  too_large: { type: 'payload_too_large', status: 413 },
  unsupported_content: { type: 'unsupported_media_type', status: 415 },
  rate_limited: { type: 'rate_limited', status: 429 },
  internal: { type: 'internal', status: 500 },
  unavailable: { type: 'unavailable', status: 503 },
} as const;
export type IntakeErrorCode = keyof typeof INTAKE_ERRORS;

/** Codes of single faults that only collectors see. */
export const INTAKE_DETAIL_CODES = ['body_too_slow', 'out_of_range', 'type_not_granted'] as const;
export type IntakeDetailCode = DetailCode | (typeof INTAKE_DETAIL_CODES)[number];

/** A line that was not queued. The line of the request is left out of the queue, and the others are not affected. */
export const RefusedLine = z.strictObject({
  /** Number of the line in the body, from 1. Blank lines count. */
  line: z.int().min(1),
  /** Path of the first failing field, such as `coverage.collector`; empty for the line as a whole. */
  path: z.string(),
  /** Stable name of the fault. */
  code: z.string(),
  message: z.string(),
});
export type RefusedLine = z.infer<typeof RefusedLine>;

/** Reply to `POST /intake/observations`. `accepted`: lines that are in the queue. */
export const ObservationsReply = z.strictObject({ accepted: Count, refused: z.array(RefusedLine) });
export type ObservationsReply = z.infer<typeof ObservationsReply>;

/** Reply to `PUT /intake/files/{sha256}`. A `creative.file` names the file by its `object_key`. */
export const FileReply = z.strictObject({
  sha256: z.string(),
  bytes: Count,
  content_type: z.string(),
  object_key: z.string(),
});
export type FileReply = z.infer<typeof FileReply>;

/** Hours between two tasks for observations that change slowly: 30 days. */
const MONTHLY_HOURS = 720;
/** Hours between two tasks of a brand, by the cadence at which it is tracked. */
const BY_CADENCE = { daily: 24, weekly: 168 } as const;
const MONTHLY = { daily: MONTHLY_HOURS, weekly: MONTHLY_HOURS } as const;

type TaskRule = {
  /** Types that a key must be allowed to send, so that it can do the task. */
  readonly needs: readonly ObservationType[];
  readonly intervalHours: Readonly<Record<Cadence, number>>;
};

/** Observations that are asked for brand by brand. A task is named after the first type that its collector sends. */
export const TASK_RULES = {
  'ad_library.scan': { needs: ['ad_library.scan', 'ad_library.scan_end'], intervalHours: BY_CADENCE },
  'storefront.scan': { needs: ['storefront.scan', 'storefront.scan_end'], intervalHours: BY_CADENCE },
  'social_page.profile': { needs: ['social_page.profile'], intervalHours: BY_CADENCE },
  'site.scan': { needs: ['site.scan'], intervalHours: MONTHLY },
  'traffic.estimate': { needs: ['traffic.estimate'], intervalHours: MONTHLY },
} as const satisfies Partial<Record<ObservationType, TaskRule>>;

export const TASK_TYPES = Object.keys(TASK_RULES) as [TaskType, ...TaskType[]];
export type TaskType = keyof typeof TASK_RULES;

/** Minutes of a lease. A task that is not ended within them may be leased again. */
export const TASK_LEASE_MINUTES = 30;
/** Maximum tasks of one request, and number without `limit`. */
export const TASKS_PER_REQUEST_MAX = 100;
const TASKS_PER_REQUEST = 10;
/** Maximum pages of a task. A brand has a few; one with more is scanned for its first pages by id. */
export const TASK_PAGES_MAX = 100;
/** Maximum characters of the reason of a failure. */
const REASON_MAX_LENGTH = 500;

/** Body of `POST /intake/tasks`. */
export const LeaseTasks = z.strictObject({
  type: z.enum(TASK_TYPES).default('ad_library.scan'),
  limit: z.int().min(1).max(TASKS_PER_REQUEST_MAX).default(TASKS_PER_REQUEST),
});
export type LeaseTasks = z.infer<typeof LeaseTasks>;

/** A brand that is due for one type of observation, leased to one collector. */
export const LeasedTask = z.strictObject({
  /** Id of the lease. `…/{id}/done` and `…/{id}/failed` name it. */
  id: Uuid,
  type: z.enum(TASK_TYPES),
  domain: z.string(),
  /** Social pages that are linked to the brand now. */
  pages: z.array(z.strictObject({ page_id: z.string(), page_name: z.string().nullable() })),
  cadence: Cadence,
  /** Start of the lease of this task that was done last: what changed before it was seen. `null`: never done. */
  since: Timestamp.nullable(),
  leased_until: Timestamp,
});
export type LeasedTask = z.infer<typeof LeasedTask>;

export const LeaseTasksReply = z.strictObject({ tasks: z.array(LeasedTask) });
export type LeaseTasksReply = z.infer<typeof LeaseTasksReply>;

/** Body of `POST /intake/tasks/{id}/done`, which may also be absent. */
export const TaskDone = z.strictObject({});
/** Body of `POST /intake/tasks/{id}/failed`. */
export const TaskFailed = z.strictObject({ reason: z.string().trim().min(1).max(REASON_MAX_LENGTH) });

/** Reply to `done` and `failed`. `changed` is false when the same end was recorded before. */
export const TaskEndReply = z.strictObject({
  id: Uuid,
  outcome: z.enum(['done', 'failed']),
  changed: z.boolean(),
});
export type TaskEndReply = z.infer<typeof TaskEndReply>;
