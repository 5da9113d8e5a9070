import { z } from 'zod';
import { WORKSPACE_CATEGORIES } from '#contracts/audit/entry.ts';
import { EXPORT_FORMATS } from '#contracts/audit/manifest.ts';
import { Refusal } from '#contracts/errors.ts';
import type { HistoryFilter } from '#projections/workspace-history/read.ts';

/** Entries of one page. */
export const PAGE_MAX = 200;
const PAGE_DEFAULT = 50;
const TEXT_MAX_LENGTH = 200;

const Sequence = z
  .string()
  .regex(/^\d{1,15}$/, 'the number of an entry')
  .transform(Number);
/** A time with its zone, or a day in UTC. */
const Moment = z
  .union([z.iso.datetime({ offset: true }), z.iso.date()], 'a time such as 2026-05-01T08:00:00Z, or a day')
  .transform((text) => new Date(text).toISOString());
const isCategory = (name: string): boolean => (WORKSPACE_CATEGORIES as readonly string[]).includes(name);

const filterShape = {
  type: z.string().min(1).max(TEXT_MAX_LENGTH).optional(),
  actor: z
    .string()
    .max(TEXT_MAX_LENGTH)
    .regex(
      /^(api_key|member|service):./,
      'kind and id, as member:mem_…; kinds are api_key, member and service',
    )
    .optional(),
  since: Moment.optional(),
  until: Moment.optional(),
  resource: z
    .string()
    .max(TEXT_MAX_LENGTH)
    .refine(
      (text) => isCategory(text.split(':', 1)[0] ?? ''),
      `a category, or category:id; categories are ${WORKSPACE_CATEGORIES.join(', ')}`,
    )
    .optional(),
} as const;

/** The parameters of a page of history, as texts, from the command line or from HTTP. */
export const HistoryQuery = z.strictObject({
  ...filterShape,
  limit: z.coerce.number().int().min(1).max(PAGE_MAX).default(PAGE_DEFAULT),
  cursor: Sequence.optional(),
});
export type HistoryQuery = z.infer<typeof HistoryQuery>;

/** Of a history that is followed: entries after `after`, or those that come from now on. */
export const FollowQuery = z.strictObject({ ...filterShape, after: Sequence.optional() });
export const ExportQuery = z.strictObject({ format: z.enum(EXPORT_FORMATS) });

/** Refuses what does not fit, naming each parameter. */
export const readQuery = <T>(schema: z.ZodType<T>, given: unknown): T => {
  const read = schema.safeParse(given);
  if (read.success) return read.data;
  const details = read.error.issues.map(({ path, message, code }) => ({
    path: path.join('.'),
    message,
    code,
  }));
  const said = details.map(({ path, message }) => (path === '' ? message : `${path}: ${message}`)).join('; ');
  throw new Refusal('invalid_input', `The parameters are wrong: ${said}.`, details);
};

export const filterOf = (query: z.infer<typeof FollowQuery> | HistoryQuery): HistoryFilter => {
  const { type, actor, since, until, resource } = query;
  const [category, ...id] = resource?.split(':') ?? [];
  return { type, actor, since, until, category, resourceId: id.length > 0 ? id.join(':') : undefined };
};
