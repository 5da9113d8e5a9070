import { z } from 'zod';
import { Refusal } from '#contracts/errors.ts';
import { RadarItemType } from '#contracts/resources/workspace/radar.ts';
import { CalendarDate } from '#contracts/values/primitives.ts';
import type { Scope } from '#contracts/values/access/scopes.ts';
import { SignalKind } from '#contracts/values/signals.ts';
import { listRadar } from '#operations/radar.ts';
import { listSignals } from '#operations/signals.ts';
import { NO_MONEY, NOT_SEEN } from '../../output/notes.ts';
import { tool } from '../define-tool.ts';
import { listAnswer } from '../list-answer.ts';
import { Brand, brandIdOf, isUuid, listInput, slugCost } from '../parameters.ts';

const DAYS_MAX = 90;
const DAYS_DEFAULT = 7;
const NOTES = ['Only tracked brands are watched; a change states no cause.', NOT_SEEN, NO_MONEY];

export const listChanges = tool({
  name: 'list_changes',
  title: 'List changes',
  description:
    'Lists what changed at tracked brands: `signals` sum changes up, `items` are single ads that started, stopped or lead elsewhere.',
  input: z.strictObject({
    view: z.enum(['signals', 'items']).default('signals'),
    days: z.int().min(1).max(DAYS_MAX).default(DAYS_DEFAULT),
    date: CalendarDate.optional().meta({ description: 'Only this day, for `items`.' }),
    brand: Brand.optional().meta({ description: 'For `items`.' }),
    kinds: z
      .array(z.enum([...SignalKind.options, ...RadarItemType.options]))
      .min(1)
      .optional()
      .meta({
        description: 'Of items: ad_started, ad_stopped, destination_changed. Of signals: the others.',
      }),
    ...listInput,
  }),
  output: 'structured',
  kind: 'reader',
  scopes: ({ brand }): readonly Scope[] =>
    brand === undefined || isUuid(brand) ? ['tracking:read'] : ['tracking:read', 'brands:read'],
  cost: ({ brand }) => 1 + slugCost(brand),
  run: async ({ view, days, date, brand, kinds, limit, cursor }, context) => {
    // Sent as text, which the endpoint splits, so that the order of kinds does not change the cursor.
    const names = kinds?.join(',');
    if (view === 'signals') {
      if (date !== undefined || brand !== undefined) {
        throw new Refusal('invalid_input', '`date` and `brand` go with the view `items`.');
      }
      return listAnswer(listSignals, { limit, cursor, query: { days, kinds: names }, notes: NOTES }, context);
    }
    const brandId = brand === undefined ? undefined : await brandIdOf(context, brand);
    const query = { days, types: names, date, brand_id: brandId };
    return listAnswer(listRadar, { limit, cursor, query, notes: NOTES }, context);
  },
});
