import { z } from 'zod';
import { ObservedDomain, Slug, Timestamp } from '../values/primitives.ts';
import { nameText, webAddress } from '../values/text.ts';

/** Limits of a site scan. Together they keep a scan within the size of one message. */
export const SITE_TOOLS_MAX = 500;
export const SITE_SPLIT_TESTS_MAX = 200;
export const SPLIT_TEST_ARMS_MAX = 20;
export const SPLIT_TEST_PAGES_MAX = 50;

const ToolSlug = Slug.max(100);

/** A tool that was detected on a site. */
export const DetectedTool = z.strictObject({
  slug: ToolSlug,
  name: nameText(200),
  /** Purpose of the tool, such as `A/B testing`. */
  category: nameText(100),
  website_url: webAddress(2_048).nullable(),
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
  name: nameText(200).nullable(),
  /** Share of visitors that the tool is configured to send to this arm, 0 to 1. */
  allocation: z.number().min(0).max(1).nullable(),
});

/** A page that a test acts on: this page only, or also every page below it. */
export const ActedOnPage = z.strictObject({
  url: webAddress(2_048),
  match: z.enum(['exact', 'prefix']),
});

/** One test as the tool's public configuration showed it. `null` means unknown and overwrites nothing. */
export const ObservedSplitTest = z.strictObject({
  tool: ToolSlug,
  /** The tool's own id of the test. */
  test_id: nameText(200),
  name: nameText(200).nullable(),
  type: SplitTestType,
  state: z.enum(['running', 'paused', 'ended', 'unknown']),
  /** Source of the state: the configuration, its dates, or a visitor who was assigned an arm. */
  state_basis: z.enum(['configuration', 'dates', 'assignment', 'unknown']),
  arms: z.array(ObservedArm).max(SPLIT_TEST_ARMS_MAX).nullable(),
  pages: z.array(ActedOnPage).max(SPLIT_TEST_PAGES_MAX).nullable(),
});
export type ObservedSplitTest = z.infer<typeof ObservedSplitTest>;

/** Tools and split tests found on a brand's site. */
export const SiteScan = z
  .strictObject({
    type: z.literal('site.scan'),
    domain: ObservedDomain,
    observed_at: Timestamp,
    collector: nameText(100),
    /**
     * True only when the collector read everything that it reads of a site. Only then does absence have a meaning.
     */
    complete: z.boolean(),
    tools: z.array(DetectedTool).max(SITE_TOOLS_MAX),
    /**
     * The split-testing tools among `tools`, and whether this scan could read their configuration. A tool that
     * could not be read has no tests listed here, but may still run some.
     */
    split_test_tools: z.array(z.strictObject({ slug: ToolSlug, readable: z.boolean() })).max(SITE_TOOLS_MAX),
    split_tests: z.array(ObservedSplitTest).max(SITE_SPLIT_TESTS_MAX),
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
  });
export type SiteScan = z.infer<typeof SiteScan>;
