import { z } from 'zod';
import { WORKSPACE_CATEGORIES } from '#contracts/audit/entry.ts';
import { EXPORT_FORMATS } from '#contracts/audit/manifest.ts';
import type { HistoryFilter } from '#projections/workspace-history/read.ts';
import { Moment } from '../validate-query.ts';

export const PAGE_MAX = 200;
const PAGE_DEFAULT = 50;
const TEXT_MAX_LENGTH = 200;

const Sequence = z
  .string()
  .regex(/^\d{1,15}$/, 'must be the sequence number of an entry')
  .transform(Number);
const IsoMoment = Moment.transform((at) => at.toISOString());
const isCategory = (name: string): boolean => (WORKSPACE_CATEGORIES as readonly string[]).includes(name);

const filterShape = {
  type: z.string().min(1).max(TEXT_MAX_LENGTH).optional(),
  actor: z
    .string()
    .max(TEXT_MAX_LENGTH)
    .regex(
      /^(api_key|member|service):./,
      'must be kind and id, such as member:mem_…; kinds are api_key, member and service',
    )
    .optional(),
  since: IsoMoment.optional(),
  until: IsoMoment.optional(),
  resource: z
    .string()
    .max(TEXT_MAX_LENGTH)
    .refine(
      (text) => isCategory(text.split(':', 1)[0] ?? ''),
      `must be a category, or category:id; categories are ${WORKSPACE_CATEGORIES.join(', ')}`,
    )
    .optional(),
} as const;

export const HistoryQuery = z.strictObject({
  ...filterShape,
  limit: z.coerce.number().int().min(1).max(PAGE_MAX).default(PAGE_DEFAULT),
  cursor: Sequence.optional(),
});
export type HistoryQuery = z.infer<typeof HistoryQuery>;

/** Parameters of a followed history: entries after the sequence number `after`, or only new ones. */
export const FollowQuery = z.strictObject({ ...filterShape, after: Sequence.optional() });
export const ExportQuery = z.strictObject({ format: z.enum(EXPORT_FORMATS) });

export const filterOf = (query: z.infer<typeof FollowQuery> | HistoryQuery): HistoryFilter => {
  const { type, actor, since, until, resource } = query;
  const [category, ...id] = resource?.split(':') ?? [];
  return { type, actor, since, until, category, resourceId: id.length > 0 ? id.join(':') : undefined };
};
