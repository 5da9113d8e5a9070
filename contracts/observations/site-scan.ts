import { z } from 'zod';
import { ObservedDomain, Slug, Timestamp } from '../values/primitives.ts';
import { nameText, webAddress } from '../values/text.ts';

/** Limits of a site scan; together they keep it within a message. */
export const SITE_TOOLS_MAX = 500;
export const SITE_SPLIT_TESTS_MAX = 200;
export const SPLIT_TEST_ARMS_MAX = 20;
export const SPLIT_TEST_PAGES_MAX = 50;

const ToolSlug = Slug.max(100);

/** A tool that was detected on a site. */
export const DetectedTool = z.strictObject({
  slug: ToolSlug,
  name: nameText(200),
  /** What it is for, `A/B testing`. */
  category: nameText(100),
  website_url: webAddress(2_048).nullable(),
});
export type DetectedTool = z.infer<typeof DetectedTool>;

/**
 * What a split test varies. `personalization` (another page for a group of people, nothing compared) and `rollout`
 * (one arm handed out step by step) are configured in the same tools and are no experiments.
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

/** Types that compare arms with each other. */
export const NO_EXPERIMENTS: readonly SplitTestType[] = ['personalization', 'rollout'];

/**
 * One arm. There is no field for an amount or a result, and unknown fields are refused, so that neither gets in.
 */
export const ObservedArm = z.strictObject({
  name: nameText(200).nullable(),
  /** Share of visitors the tool is configured to send here, 0 to 1. */
  allocation: z.number().min(0).max(1).nullable(),
});

/** A page that a test acts on: this very one, or this one and every one below it. */
export const ActedOnPage = z.strictObject({
  url: webAddress(2_048),
  match: z.enum(['exact', 'prefix']),
});

/** One test as the tool's public configuration showed it. `null` means "not said" and overwrites nothing. */
export const ObservedSplitTest = z.strictObject({
  tool: ToolSlug,
  /** The tool's own id of the test. */
  test_id: nameText(200),
  name: nameText(200).nullable(),
  type: SplitTestType,
  state: z.enum(['running', 'paused', 'ended', 'unknown']),
  /** How the state is known: the configuration says so, its dates do, or a visitor was assigned an arm. */
  state_basis: z.enum(['configuration', 'dates', 'assignment', 'unknown']),
  arms: z.array(ObservedArm).max(SPLIT_TEST_ARMS_MAX).nullable(),
  pages: z.array(ActedOnPage).max(SPLIT_TEST_PAGES_MAX).nullable(),
});
export type ObservedSplitTest = z.infer<typeof ObservedSplitTest>;

/** What was found on a brand's site. */
export const SiteScan = z
  .strictObject({
    type: z.literal('site.scan'),
    domain: ObservedDomain,
    observed_at: Timestamp,
    collector: nameText(100),
    /** True only when everything was read that the collector reads of a site: then absence means something. */
    complete: z.boolean(),
    tools: z.array(DetectedTool).max(SITE_TOOLS_MAX),
    /**
     * The split-testing tools among them, and whether this scan could read what each is configured to do. A tool
     * that could not be read has no tests here, which does not mean that it runs none.
     */
    split_test_tools: z.array(z.strictObject({ slug: ToolSlug, readable: z.boolean() })).max(SITE_TOOLS_MAX),
    split_tests: z.array(ObservedSplitTest).max(SITE_SPLIT_TESTS_MAX),
  })
  .superRefine(({ tools, split_test_tools, split_tests }, context) => {
    const detected = new Set(tools.map(({ slug }) => slug));
    const readable = new Set(split_test_tools.flatMap(({ slug, readable: is }) => (is ? [slug] : [])));
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
