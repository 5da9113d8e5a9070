import { z } from 'zod';
import { SplitTestType } from '#contracts/observations/site-scan.ts';
import { Count, Timestamp, Uuid } from '#contracts/values/primitives.ts';
import { CategoryReference } from './brand.ts';
import { CollectedStatus } from './store.ts';
import { TechStackItem, ToolReference } from './tool.ts';

/** Public configuration of tools, without the result of an arm, a price or a shipping amount. */

const Type = SplitTestType.meta({
  id: 'SplitTestType',
  description:
    'What the test varies. `personalization` and `rollout` compare nothing and are no experiments.',
});

export const SplitTest = z
  .strictObject({
    tool: TechStackItem,
    id: Uuid.meta({
      description: "Stable id, derived from the site, the tool and the tool's own id of the test.",
    }),
    name: z.string().nullable().meta({ description: 'As configured, without amounts; null: it has none.' }),
    type: Type,
    state: z.enum(['running', 'paused', 'ended', 'unknown']).meta({
      description: 'Whether it ran when it was last read; `state_basis` says what that follows from.',
    }),
    state_basis: z.enum(['configuration', 'dates', 'assignment', 'absence', 'unknown']).meta({
      description:
        'Basis of the state: the configuration, its dates, the assignment of a visitor to an arm, or absence from the tool.',
    }),
    arms: z
      .array(
        z.strictObject({
          name: z
            .string()
            .nullable()
            .meta({ description: 'As configured, without amounts; null: it has none.' }),
          allocation: z.number().min(0).max(1).nullable().meta({
            description:
              'Share of visitors, 0 to 1, that the tool is configured to send here; null: not read.',
          }),
        }),
      )
      .nullable()
      .meta({ description: 'Variants that visitors are assigned to; null when they could not be read.' }),
    pages: z
      .array(
        z.strictObject({
          url: z.url().meta({ description: "Address on the brand's site, or the start of addresses." }),
          match: z.enum(['exact', 'prefix']).meta({
            description: '`exact`: this page only; `prefix`: this page and all pages below it.',
          }),
          active_ads: Count.meta({ description: "The brand's active ads that lead there." }),
        }),
      )
      .nullable()
      .meta({ description: 'Pages that the test acts on; null where they could not be read.' }),
    first_seen_at: Timestamp.meta({ description: 'Time of the first scan that showed it.' }),
    changed_at: Timestamp.nullable().meta({
      description: 'When it was last observed to have changed; null: never.',
    }),
    missing_since: Timestamp.nullable().meta({
      description:
        'Time of the first scan in which the tool did not show it, which is not its end; null: it is shown.',
    }),
  })
  .meta({
    id: 'SplitTest',
    description: "A test as the tool's public configuration has it, without results.",
  });

export const BrandSplitTests = z
  .strictObject({
    status: CollectedStatus.meta({
      description:
        '`not_collected`: the site was never scanned, which does not mean that nothing is tested there.',
    }),
    scanned_at: Timestamp.nullable().meta({ description: 'When the site was last scanned; null: never.' }),
    tools: z
      .array(
        TechStackItem.extend({
          read: z.boolean().meta({ description: 'Whether any scan could read its configuration.' }),
          read_at: Timestamp.nullable().meta({ description: 'When it was last read; null: never.' }),
          tests: Count.nullable().meta({
            description: 'Tests that were read from the tool; null when it was not read.',
          }),
        }),
      )
      .nullable()
      .meta({ description: 'Testing tools installed on the site; null when it was never scanned.' }),
    tests: z.array(SplitTest).nullable().meta({
      description:
        'Tests read on the site, running ones first, then newest first; null when no tool was read.',
    }),
    category_profile: z
      .strictObject({
        category: CategoryReference,
        brands_read: Count.meta({ description: 'Public brands of the category with a tool that was read.' }),
        types: z
          .array(
            z.strictObject({
              type: Type,
              brands: Count.meta({ description: 'Public brands of the category with such a test.' }),
              tests: Count.meta({ description: 'Their tests of this type, in any state.' }),
              running_tests: Count.meta({ description: 'Tests among them that run.' }),
            }),
          )
          .meta({ description: 'What their tests vary, most tests first.' }),
      })
      .nullable()
      .meta({ description: "Tests at brands of the brand's top-level category; null where it has none." }),
  })
  .meta({
    id: 'BrandSplitTests',
    description: 'What is tested on the site of a brand; never which arm did better.',
  });

export const SplitTestCensusItem = z
  .strictObject({
    tool: ToolReference,
    is_read: z.boolean().meta({ description: 'Whether this tool can be read at all.' }),
    brands_installed: Count.meta({ description: 'Public brands with this tool.' }),
    brands_read: Count.nullable().meta({
      description: 'Brands whose tool was read; null, not zero, when the tool cannot be read.',
    }),
    brands_running: Count.nullable().meta({
      description:
        'Brands among those read with at least one running experiment, without personalizations and rollouts; null when the tool cannot be read.',
    }),
  })
  .meta({ id: 'SplitTestCensusItem', description: 'A testing tool and how many brands use it.' });
