import type { SplitTestType } from '#contracts/observations/site-scan.ts';
import type { Event } from '../event.ts';
import type { EventVersions } from '../versions.ts';

/** Stream `site-<domain>`: the tools and split tests found on a site. */
export const SITE = 'site';
export const siteStream = (domain: string): string => `${SITE}-${domain}`;

/** Fields of every event of a scan: brand, domain and time of the scan. */
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
  /** Whether it is a tool for split tests. */
  readonly split_testing: boolean;
};

/**
 * Tools found for the first time, or again after they were gone. Those of the first complete scan are the baseline.
 */
export type ToolsDetected = Event<
  'ToolsDetected',
  Sighting & { readonly novelty: 'baseline' | 'news' | 'returned'; readonly tools: readonly SiteTool[] }
>;

/** Existing tools that a scan names, categorises or links differently. */
export type ToolsDescribed = Event<'ToolsDescribed', Sighting & { readonly tools: readonly SiteTool[] }>;

/** Tools absent from a complete scan for the first time: missing, not gone. */
export type ToolsMissed = Event<'ToolsMissed', Sighting & { readonly slugs: readonly string[] }>;

/** Missing tools that a scan found again. */
export type ToolsSeen = Event<'ToolsSeen', Sighting & { readonly slugs: readonly string[] }>;

/** Tools absent from two complete scans at least 20 hours apart, and from every complete scan in between. */
export type ToolsGone = Event<
  'ToolsGone',
  Sighting & { readonly tools: readonly { readonly slug: string; readonly missing_since: string }[] }
>;

/** A tool as it is after a late scan. */
export type CorrectedTool = {
  readonly tool: SiteTool;
  readonly present: boolean;
  readonly missing_since: string | null;
  /** Time of the scan that found the tool first, or first after it was gone. */
  readonly detected_at: string;
};

/**
 * A scan that arrived late changes what later scans had decided about tools. `observed_at` is the time of the late scan.
 * It is a correction, never news.
 */
export type ToolsCorrected = Event<'ToolsCorrected', Sighting & { readonly tools: readonly CorrectedTool[] }>;

/** Readability of the site's split-testing tools. Lists only tools for which it is new or changed. */
export type SplitTestToolsRead = Event<
  'SplitTestToolsRead',
  Sighting & { readonly tools: readonly { readonly slug: string; readonly readable: boolean }[] }
>;

export type SplitTestState = 'running' | 'paused' | 'ended' | 'unknown';
/** `absence`: the tool was readable but did not show the test in two scans at least 20 hours apart. */
export type SplitTestStateBasis = 'configuration' | 'dates' | 'assignment' | 'absence' | 'unknown';

/**
 * State of a split test. `null`: never observed. Amounts of money are removed from names before they are recorded.
 */
export type SplitTestDetails = {
  readonly name: string | null;
  readonly type: SplitTestType;
  readonly state: SplitTestState;
  readonly state_basis: SplitTestStateBasis;
  readonly arms: readonly { readonly name: string | null; readonly allocation: number | null }[] | null;
  readonly pages: readonly { readonly url: string; readonly match: 'exact' | 'prefix' }[] | null;
};

/** Identity of a test. `id` is derived from the site, the tool and the tool's own id of the test. */
export type SplitTestKey = { readonly id: string; readonly tool: string; readonly test_id: string };

/** Maximum JSON size of one split-test event, in characters; a single larger test gets its own event. */
export const SITE_EVENT_MAX_CHARACTERS = 150_000;

export type SplitTestsObserved = Event<
  'SplitTestsObserved',
  Sighting & {
    readonly novelty: 'baseline' | 'news';
    readonly tests: readonly (SplitTestKey & SplitTestDetails)[];
  }
>;

/** `changes` holds only the changed fields. */
export type SplitTestsChanged = Event<
  'SplitTestsChanged',
  Sighting & {
    readonly tests: readonly (SplitTestKey & { readonly changes: Partial<SplitTestDetails> })[];
  }
>;

/** Tests that a readable tool did not show, for the first time. They are missing, not ended. */
export type SplitTestsMissed = Event<'SplitTestsMissed', Sighting & { readonly ids: readonly string[] }>;

/** Missing tests that their tool showed again. */
export type SplitTestsSeen = Event<'SplitTestsSeen', Sighting & { readonly ids: readonly string[] }>;

/** Closes a scan. */
export type SiteScanRecorded = Event<
  'SiteScanRecorded',
  Sighting & {
    readonly collector: string;
    readonly complete: boolean;
    /** Number of tools on the site after the scan, missing ones included. */
    readonly tools: number;
    /** Split-testing tools that this scan could read; of a late scan, those that no other one could. */
    readonly read: readonly string[];
    /** Slugs of the tools that it found. Absent for complete scans in order, and in events of earlier releases. */
    readonly shown?: readonly string[];
    /** The scan precedes one that was recorded before it. */
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

/** Schema versions: each type's upcasters, from version 1 on. */
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
