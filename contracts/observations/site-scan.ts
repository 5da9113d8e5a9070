import { z } from 'zod';
import { ObservedDomain, Slug, Timestamp } from '../values/primitives.ts';
import { boundedWebAddress, cutNameKey, cutNameText, cutSlug, uncutWebAddress } from '../values/text.ts';

/**
 * Limits of a site scan. Together they keep its events within the size of one append. The later entries of a longer list are
 * left out, and pages whose URL is too long.
 */
export const SITE_TOOLS_MAX = 500;
export const SITE_SPLIT_TESTS_MAX = 200;
export const SPLIT_TEST_ARMS_MAX = 20;
export const SPLIT_TEST_PAGES_MAX = 50;

const URL_MAX_CHARACTERS = 2_048;
/** Maximum characters of a tool's slug. A longer one is cut. */
export const TOOL_SLUG_MAX_CHARACTERS = 100;
const ToolSlug = Slug.overwrite((slug) => cutSlug(slug, TOOL_SLUG_MAX_CHARACTERS));

/** A tool that was detected on a site. */
export const DetectedTool = z.strictObject({
  slug: ToolSlug,
  name: cutNameText(200),
  /** Purpose of the tool, such as `A/B testing`. */
  category: cutNameText(100),
  website_url: boundedWebAddress(URL_MAX_CHARACTERS).nullable(),
});
export type DetectedTool = z.infer<typeof DetectedTool>;

/**
 * The element that a split test varies. `personalization` shows another page to a group of people and compares
 * nothing. `rollout` releases one arm step by step. Both are configured in the same tools but are not experiments.
 */
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

/**
 * One arm of a test. It has no fields for amounts or results. Unknown fields are rejected, so such data cannot
 * enter.
 */
export const ObservedArm = z.strictObject({
  name: cutNameText(200).nullable(),
  /** Share of visitors that the tool is configured to send to this arm, 0 to 1. */
  allocation: z.number().min(0).max(1).nullable(),
});

/** A page that a test acts on: this page only, or also every page below it. */
export const ActedOnPage = z.strictObject({
  url: uncutWebAddress(),
  match: z.enum(['exact', 'prefix']),
});

/** One test as the tool's public configuration showed it. `null` means unknown and overwrites nothing. */
export const ObservedSplitTest = z.strictObject({
  tool: ToolSlug,
  /** The tool's own id of the test. */
  test_id: cutNameKey(200),
  name: cutNameText(200).nullable(),
  type: SplitTestType,
  state: z.enum(['running', 'paused', 'ended', 'unknown']),
  /** Source of the state: the configuration, its dates, or a visitor who was assigned an arm. */
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

/**
 * Brings a scan within the limits of its lists. A scan that lost entries is not complete any more, because they are not
 * absent from the site.
 */
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

/** Tools and split tests found on a brand's site. */
export const SiteScan = z
  .strictObject({
    type: z.literal('site.scan'),
    domain: ObservedDomain,
    observed_at: Timestamp,
    collector: cutNameKey(100),
    /**
     * True only when the collector read everything that it reads of a site. Only then does absence have a meaning.
     */
    complete: z.boolean(),
    tools: z.array(DetectedTool),
    /**
     * The split-testing tools among `tools`, and whether this scan could read their configuration. A tool that
     * could not be read has no tests listed here, but may still run some.
     */
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
