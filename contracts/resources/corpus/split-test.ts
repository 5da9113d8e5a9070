import { z } from 'zod';
import { SplitTestType } from '#contracts/observations/site-scan.ts';
import { Count, Timestamp, Uuid } from '#contracts/values/primitives.ts';
import { CategoryReference } from './brand.ts';
import { TechStackItem, ToolReference } from './tool.ts';

/**
 * Schemas of split tests. They show the public configuration of tools. They do not say which arm performed better,
 * and contain no amount of a price or of shipping.
 */

const Type = SplitTestType.meta({
  description:
    'What the test varies. `personalization` and `rollout` compare nothing and are no experiments.',
});

export const SplitTest = z
  .strictObject({
    tool: TechStackItem,
    id: Uuid,
    name: z.string().nullable().meta({ description: 'As configured, without amounts.' }),
    type: Type,
    state: z.enum(['running', 'paused', 'ended', 'unknown']),
    state_basis: z.enum(['configuration', 'dates', 'assignment', 'absence', 'unknown']).meta({
      description:
        'How the state is known: the configuration or its dates say so, a visitor was assigned an arm, or the tool no longer shows the test.',
    }),
    arms: z
      .array(
        z.strictObject({
          name: z.string().nullable().meta({ description: 'As configured, without amounts.' }),
          allocation: z
            .number()
            .min(0)
            .max(1)
            .nullable()
            .meta({ description: 'Share of visitors that the tool is configured to send here.' }),
        }),
      )
      .nullable()
      .meta({ description: 'Null where they could not be read.' }),
    pages: z
      .array(
        z.strictObject({
          url: z.url(),
          match: z.enum(['exact', 'prefix']).meta({
            description: 'This very page, or this page and every one below it.',
          }),
          active_ads: Count.meta({ description: "The brand's active ads that lead there." }),
        }),
      )
      .nullable()
      .meta({ description: 'Pages that the test acts on; null where they could not be read.' }),
    first_seen_at: Timestamp,
    changed_at: Timestamp.nullable().meta({ description: 'When it was last observed to have changed.' }),
    missing_since: Timestamp.nullable().meta({
      description: 'Not shown by its tool since then, which does not yet make it ended.',
    }),
  })
  .meta({ id: 'SplitTest' });

export const BrandSplitTests = z
  .strictObject({
    status: z.enum(['collected', 'not_collected']).meta({
      description:
        'not_collected: the site was never scanned, which does not mean that nothing is tested there.',
    }),
    scanned_at: Timestamp.nullable(),
    tools: z
      .array(
        TechStackItem.extend({
          read: z.boolean().meta({ description: 'Whether any scan could read what it is configured to do.' }),
          read_at: Timestamp.nullable().meta({ description: 'When it was last read.' }),
          tests: Count.nullable().meta({ description: 'Tests read on it; null when it was not read.' }),
        }),
      )
      .nullable()
      .meta({ description: 'Testing tools installed on the site; null when it was never scanned.' }),
    tests: z
      .array(SplitTest)
      .nullable()
      .meta({ description: 'Running ones first, then newest first; null when no tool was read.' }),
    category_profile: z
      .strictObject({
        category: CategoryReference,
        brands_read: Count.meta({
          description: 'Public brands of the category on whose sites a tool was read.',
        }),
        types: z
          .array(z.strictObject({ type: Type, brands: Count, tests: Count, running_tests: Count }))
          .meta({ description: 'What their tests vary, most tests first.' }),
      })
      .nullable()
      .meta({ description: "Of the brand's top-level category; null where it has none." }),
  })
  .meta({ id: 'BrandSplitTests' });

export const SplitTestCensusItem = z
  .strictObject({
    tool: ToolReference,
    is_read: z.boolean().meta({ description: 'Whether this tool can be read at all.' }),
    brands_installed: Count.meta({ description: 'Public brands that have it.' }),
    brands_read: Count.nullable().meta({
      description: 'Of these, how many were read; null when the tool is not read, which is not zero.',
    }),
    brands_running: Count.nullable().meta({
      description:
        'Of those read, how many run at least one experiment, personalizations and rollouts not counted; null when the tool is not read.',
    }),
  })
  .meta({ id: 'SplitTestCensusItem' });
