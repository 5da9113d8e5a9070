import type { SplitTestType } from '#contracts/observations/site-scan.ts';
import type { Event } from '../event.ts';
import type { EventVersions } from '../versions.ts';

/** Stream `site-<domain>`: the tools and split tests found on a site. */
export const SITE = 'site';
export const siteStream = (domain: string): string => `${SITE}-${domain}`;

type Sighting = {
  /** The brand of this domain. It may not have a profile yet. */
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
  readonly split_testing: boolean;
};

/** Tools found for the first time or again. The first complete scan is the baseline. */
export type ToolsDetected = Event<
  'ToolsDetected',
  Sighting & { readonly novelty: 'baseline' | 'news' | 'returned'; readonly tools: readonly SiteTool[] }
>;

export type ToolsDescribed = Event<'ToolsDescribed', Sighting & { readonly tools: readonly SiteTool[] }>;

/** First absence from a complete scan: missing, not gone. */
export type ToolsMissed = Event<'ToolsMissed', Sighting & { readonly slugs: readonly string[] }>;

export type ToolsSeen = Event<'ToolsSeen', Sighting & { readonly slugs: readonly string[] }>;

/** Tools absent from two complete scans at least 20 hours apart, and from all in between. */
export type ToolsGone = Event<
  'ToolsGone',
  Sighting & { readonly tools: readonly { readonly slug: string; readonly missing_since: string }[] }
>;

/** State after a late scan. */
export type CorrectedTool = {
  readonly tool: SiteTool;
  readonly present: boolean;
  readonly missing_since: string | null;
  /** Time at which the tool was found first, or first after it was gone. */
  readonly detected_at: string;
};

/** A late scan changes later decisions about tools, which is never news. `observed_at` is the time of the late scan. */
export type ToolsCorrected = Event<'ToolsCorrected', Sighting & { readonly tools: readonly CorrectedTool[] }>;

/** Lists only tools whose readability is new or changed. */
export type SplitTestToolsRead = Event<
  'SplitTestToolsRead',
  Sighting & { readonly tools: readonly { readonly slug: string; readonly readable: boolean }[] }
>;

export type SplitTestState = 'running' | 'paused' | 'ended' | 'unknown';
/** `absence`: the readable tool did not show the test in two scans at least 20 hours apart. */
export type SplitTestStateBasis = 'configuration' | 'dates' | 'assignment' | 'absence' | 'unknown';

/** `null`: never observed. Amounts of money are removed from names before they are recorded. */
export type SplitTestDetails = {
  readonly name: string | null;
  readonly type: SplitTestType;
  readonly state: SplitTestState;
  readonly state_basis: SplitTestStateBasis;
  readonly arms: readonly { readonly name: string | null; readonly allocation: number | null }[] | null;
  readonly pages: readonly { readonly url: string; readonly match: 'exact' | 'prefix' }[] | null;
};

/** `id` is derived from the site, the tool and the tool's own id of the test. */
export type SplitTestKey = { readonly id: string; readonly tool: string; readonly test_id: string };

/** Maximum JSON characters of one split-test event; a larger test gets its own event. */
export const SITE_EVENT_MAX_CHARACTERS = 150_000;

export type SplitTestsObserved = Event<
  'SplitTestsObserved',
  Sighting & {
    readonly novelty: 'baseline' | 'news';
    readonly tests: readonly (SplitTestKey & SplitTestDetails)[];
  }
>;

/** Only the changed fields are in `changes`. */
export type SplitTestsChanged = Event<
  'SplitTestsChanged',
  Sighting & { readonly tests: readonly (SplitTestKey & { readonly changes: Partial<SplitTestDetails> })[] }
>;

/** Tests that a readable tool did not show for the first time: missing, not ended. */
export type SplitTestsMissed = Event<'SplitTestsMissed', Sighting & { readonly ids: readonly string[] }>;

export type SplitTestsSeen = Event<'SplitTestsSeen', Sighting & { readonly ids: readonly string[] }>;

export type SiteScanRecorded = Event<
  'SiteScanRecorded',
  Sighting & {
    readonly collector: string;
    readonly complete: boolean;
    readonly tools: number;
    /** Split-testing tools that this scan read; for a late scan, those that no other one could read. */
    readonly read: readonly string[];
    /** Slugs of the tools found. Absent for complete scans in order. */
    readonly shown?: readonly string[];
    /** True if the scan precedes one that was recorded before it. */
    readonly late_arrival?: true;
  }
>;

export type SiteEvent =
  | ToolsDetected
  | ToolsDescribed
  | ToolsMissed
  | ToolsSeen
  | ToolsGone
  | ToolsCorrected
  | SplitTestToolsRead
  | SplitTestsObserved
  | SplitTestsChanged
  | SplitTestsMissed
  | SplitTestsSeen
  | SiteScanRecorded;

export const siteVersions: EventVersions<SiteEvent> = {
  ToolsDetected: [],
  ToolsDescribed: [],
  ToolsMissed: [],
  ToolsSeen: [],
  ToolsGone: [],
  ToolsCorrected: [],
  SplitTestToolsRead: [],
  SplitTestsObserved: [],
  SplitTestsChanged: [],
  SplitTestsMissed: [],
  SplitTestsSeen: [],
  SiteScanRecorded: [],
};
