import { z } from 'zod';
import { ObservedDomain, Slug, Timestamp } from '../values/primitives.ts';
import { boundedWebAddress, cutNameKey, cutNameText, cutSlug, uncutWebAddress } from '../values/text.ts';

/** So that a scan's events fit into one append. Later entries, and pages with too long a URL, are left out. */
export const SITE_TOOLS_MAX = 500;
export const SITE_SPLIT_TESTS_MAX = 200;
export const SPLIT_TEST_ARMS_MAX = 20;
export const SPLIT_TEST_PAGES_MAX = 50;

const URL_MAX_CHARACTERS = 2_048;
export const TOOL_SLUG_MAX_CHARACTERS = 100;
const ToolSlug = Slug.overwrite((slug) => cutSlug(slug, TOOL_SLUG_MAX_CHARACTERS));

export const DetectedTool = z.strictObject({
  slug: ToolSlug,
  name: cutNameText(200),
  /** Such as `A/B testing`. */
  category: cutNameText(100),
  website_url: boundedWebAddress(URL_MAX_CHARACTERS).nullable(),
});
export type DetectedTool = z.infer<typeof DetectedTool>;

/** The element that varies. `personalization` and `rollout` use the same tools, but compare nothing. */
export const SplitTestType = z.enum([
  'price',
  'shipping',
  'offer',
  'content',
  'layout',
  'theme',
  'redirect',
  'checkout',
  'personalization',
  'rollout',
  'other',
]);
export type SplitTestType = z.infer<typeof SplitTestType>;

/** Types that compare no arms with each other. */
export const NON_EXPERIMENT_TYPES: readonly SplitTestType[] = ['personalization', 'rollout'];

/** Unknown fields are rejected, so that amounts and results cannot enter. */
export const ObservedArm = z.strictObject({
  name: cutNameText(200).nullable(),
  allocation: z.number().min(0).max(1).nullable(),
});

/** This page only, or also every page below it. */
export const ActedOnPage = z.strictObject({ url: uncutWebAddress(), match: z.enum(['exact', 'prefix']) });

/** As in the tool's public configuration. `null` means unknown and overwrites nothing. */
export const ObservedSplitTest = z.strictObject({
  tool: ToolSlug,
  test_id: cutNameKey(200),
  name: cutNameText(200).nullable(),
  type: SplitTestType,
  state: z.enum(['running', 'paused', 'ended', 'unknown']),
  /** The configuration, its dates, or a visitor who was assigned an arm. */
  state_basis: z.enum(['configuration', 'dates', 'assignment', 'unknown']),
  arms: z
    .array(ObservedArm)
    .overwrite((arms) => arms.slice(0, SPLIT_TEST_ARMS_MAX))
    .nullable(),
  pages: z
    .array(ActedOnPage)
    .overwrite((pages) =>
      pages.filter(({ url }) => url.length <= URL_MAX_CHARACTERS).slice(0, SPLIT_TEST_PAGES_MAX),
    )
    .nullable(),
});
export type ObservedSplitTest = z.infer<typeof ObservedSplitTest>;

type Site = {
  readonly complete: boolean;
  readonly tools: readonly { readonly slug: string }[];
  readonly split_test_tools: readonly { readonly slug: string }[];
  readonly split_tests: readonly { readonly tool: string }[];
};

/** A scan that lost entries is not complete any more, because they are not absent from the site. */
const shortenSite = <S extends Site>(scan: S): S => {
  const { tools, split_test_tools: readTools, split_tests: tests } = scan;
  if (tools.length <= SITE_TOOLS_MAX && tests.length <= SITE_SPLIT_TESTS_MAX) return scan;
  const kept = tools.slice(0, SITE_TOOLS_MAX);
  const slugs = new Set(kept.map(({ slug }) => slug));
  return {
    ...scan,
    complete: false,
    tools: kept,
    split_test_tools: readTools.filter(({ slug }) => slugs.has(slug)),
    split_tests: tests.filter(({ tool }) => slugs.has(tool)).slice(0, SITE_SPLIT_TESTS_MAX),
  };
};

export const SiteScan = z
  .strictObject({
    type: z.literal('site.scan'),
    domain: ObservedDomain,
    observed_at: Timestamp,
    collector: cutNameKey(100),
    /** True only when the collector read all that it reads of a site; only then does absence have a meaning. */
    complete: z.boolean(),
    tools: z.array(DetectedTool),
    /** A tool that is not readable has no tests listed here, but may still run some. */
    split_test_tools: z.array(z.strictObject({ slug: ToolSlug, readable: z.boolean() })),
    split_tests: z.array(ObservedSplitTest),
  })
  .superRefine(({ tools, split_test_tools, split_tests }, context) => {
    const detected = new Set(tools.map(({ slug }) => slug));
    const readable = new Set(split_test_tools.flatMap((tool) => (tool.readable ? [tool.slug] : [])));
    split_test_tools.forEach(({ slug }, index) => {
      if (detected.has(slug)) return;
      const message = `${slug} is not among the tools; name it there too`;
      context.addIssue({ code: 'custom', path: ['split_test_tools', index, 'slug'], message });
    });
    split_tests.forEach(({ tool }, index) => {
      if (readable.has(tool)) return;
      const message = `${tool} is no readable tool of split_test_tools; a test is read on one`;
      context.addIssue({ code: 'custom', path: ['split_tests', index, 'tool'], message });
    });
  })
  .overwrite(shortenSite);
export type SiteScan = z.infer<typeof SiteScan>;
