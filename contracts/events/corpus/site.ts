import type { SplitTestType } from '#contracts/observations/site-scan.ts';
import type { Event } from '../event.ts';

/** Stream `site-<domain>`: the tools and split tests found on a site. */
export const SITE = 'site';
export const siteStream = (domain: string): string => `${SITE}-${domain}`;

/** In every event of a scan: whose site it is, and when the scan looked. */
type Sighting = {
  /** The brand that has the domain, whether or not anybody has described it yet. */
  readonly brand_id: string;
  readonly domain: string;
  readonly observed_at: string;
};

export type SiteTool = {
  /** Derived from the slug. */
  readonly tool_id: string;
  readonly slug: string;
  readonly name: string;
  readonly category: string;
  readonly website_url: string | null;
  /** Whether it is a tool for split tests. */
  readonly split_testing: boolean;
};

/** Met for the first time, or again after they were gone. Those of the first complete scan are a baseline. */
export type ToolsDetected = Event<
  'ToolsDetected',
  Sighting & { readonly novelty: 'baseline' | 'news' | 'returned'; readonly tools: readonly SiteTool[] }
>;

/** Known tools that a scan names, files or links differently. */
export type ToolsDescribed = Event<'ToolsDescribed', Sighting & { readonly tools: readonly SiteTool[] }>;

/** Absent from a complete scan for the first time: missing, not gone. */
export type ToolsMissed = Event<'ToolsMissed', Sighting & { readonly slugs: readonly string[] }>;

/** Missing tools that a scan found again. */
export type ToolsSeen = Event<'ToolsSeen', Sighting & { readonly slugs: readonly string[] }>;

/** Absent from two complete scans at least 20 hours apart, and from every one between. */
export type ToolsGone = Event<
  'ToolsGone',
  Sighting & { readonly tools: readonly { readonly slug: string; readonly missing_since: string }[] }
>;

/** Which of the site's split-testing tools a scan could read; only where that became so or changed. */
export type SplitTestToolsRead = Event<
  'SplitTestToolsRead',
  Sighting & { readonly tools: readonly { readonly slug: string; readonly readable: boolean }[] }
>;

export type SplitTestState = 'running' | 'paused' | 'ended' | 'unknown';
/** `absence`: the tool, still readable, no longer showed the test in two scans at least 20 hours apart. */
export type SplitTestStateBasis = 'configuration' | 'dates' | 'assignment' | 'absence' | 'unknown';

/** `null`: never observed. Amounts are taken out of names before they get here. */
export type SplitTestDetails = {
  readonly name: string | null;
  readonly type: SplitTestType;
  readonly state: SplitTestState;
  readonly state_basis: SplitTestStateBasis;
  readonly arms: readonly { readonly name: string | null; readonly allocation: number | null }[] | null;
  readonly pages: readonly { readonly url: string; readonly match: 'exact' | 'prefix' }[] | null;
};

/** A test of a tool; `id` is derived from the site, the tool and the tool's own id of it. */
export type SplitTestKey = { readonly id: string; readonly tool: string; readonly test_id: string };

/** Events about tests hold several, but no more than so much JSON, unless a single test is longer. */
export const SITE_EVENT_MAX_CHARACTERS = 150_000;

export type SplitTestsObserved = Event<
  'SplitTestsObserved',
  Sighting & {
    readonly novelty: 'baseline' | 'news';
    readonly tests: readonly (SplitTestKey & SplitTestDetails)[];
  }
>;

/** Only the fields that changed. */
export type SplitTestsChanged = Event<
  'SplitTestsChanged',
  Sighting & {
    readonly tests: readonly (SplitTestKey & { readonly changes: Partial<SplitTestDetails> })[];
  }
>;

/** Not shown by their tool, which was readable, for the first time: missing, not ended. */
export type SplitTestsMissed = Event<'SplitTestsMissed', Sighting & { readonly ids: readonly string[] }>;

/** Missing tests that their tool showed again. */
export type SplitTestsSeen = Event<'SplitTestsSeen', Sighting & { readonly ids: readonly string[] }>;

/** Closes a scan. */
export type SiteScanRecorded = Event<
  'SiteScanRecorded',
  Sighting & {
    readonly collector: string;
    readonly complete: boolean;
    /** Tools of the site after the scan, missing ones included. */
    readonly tools: number;
    /** Tools for split tests that this scan could read. */
    readonly read: readonly string[];
  }
>;

export type SiteEvent =
  | ToolsDetected
  | ToolsDescribed
  | ToolsMissed
  | ToolsSeen
  | ToolsGone
  | SplitTestToolsRead
  | SplitTestsObserved
  | SplitTestsChanged
  | SplitTestsMissed
  | SplitTestsSeen
  | SiteScanRecorded;
