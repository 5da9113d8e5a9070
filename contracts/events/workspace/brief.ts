import type { BriefFeedback } from '#contracts/resources/workspace/brief.ts';
import type { RadarCorrection, RadarItem } from '#contracts/resources/workspace/radar.ts';
import type { Event } from '../event.ts';
import type { EventVersions } from '../versions.ts';
import type { Restated } from './restated.ts';

/** Stream `brief-<workspaceId>+<briefId>`: summary of one ISO week for one workspace. */
export const BRIEF = 'brief';
export const briefStream = (workspaceId: string, briefId: string): string =>
  `${BRIEF}-${workspaceId}+${briefId}`;

export type RadarChanges = {
  readonly ads_started: number;
  readonly ads_stopped: number;
  readonly destinations_changed: number;
};

/** A radar item as it was when the brief was made, without URLs of this service, which may change. */
export type RadarSnapshot = Omit<RadarItem, 'brand' | 'ad' | 'correction'> & {
  /** Absent unless a correction added the item. */
  readonly correction?: RadarCorrection;
  readonly brand: Omit<RadarItem['brand'], 'url'>;
  readonly ad: Omit<RadarItem['ad'], 'url'>;
};

export type BriefPrepared = Event<
  'BriefPrepared',
  {
    readonly workspace_id: string;
    readonly brief_id: string;
    /** ISO 8601 week, `2026-W47`. */
    readonly week: string;
    /** Monday and Sunday, in UTC. */
    readonly from: string;
    readonly to: string;
    /** All tracked brands, most changes first. Readers add the names: there may be thousands of brands. */
    readonly brands: readonly ({ readonly brand_id: string } & RadarChanges)[];
    readonly notable_items: readonly RadarSnapshot[];
    readonly prepared_at: string;
  }
>;

/** `null` removes the feedback. */
export type BriefFeedbackGiven = Event<
  'BriefFeedbackGiven',
  {
    readonly workspace_id: string;
    readonly brief_id: string;
    readonly feedback: BriefFeedback | null;
    readonly given_at: string;
  }
>;

/** The counts of the week differ from the brief with its earlier restatements. The brief itself stays as it was prepared. */
export type BriefRestated = Event<
  'BriefRestated',
  { readonly workspace_id: string; readonly brief_id: string } & Restated
>;

export type BriefEvent = BriefPrepared | BriefFeedbackGiven | BriefRestated;

export const briefVersions: EventVersions<BriefEvent> = {
  BriefPrepared: [],
  BriefFeedbackGiven: [],
  BriefRestated: [],
};
