import type { BriefFeedback } from '#contracts/resources/workspace/brief.ts';
import type { RadarItem } from '#contracts/resources/workspace/radar.ts';
import type { Event } from '../event.ts';

/** Stream `brief-<workspaceId>+<briefId>`: what one ISO week brought to one workspace. */
export const BRIEF = 'brief';
export const briefStream = (workspaceId: string, briefId: string): string =>
  `${BRIEF}-${workspaceId}+${briefId}`;

export type RadarChanges = {
  readonly ads_started: number;
  readonly ads_stopped: number;
  readonly destinations_changed: number;
};

/** A radar item as it was, without the addresses of this service, which may move. */
export type RadarSnapshot = Omit<RadarItem, 'brand' | 'ad'> & {
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
    /** Every brand that was tracked, most changes first. Names are left to readers: there may be thousands. */
    readonly brands: readonly ({ readonly brand_id: string } & RadarChanges)[];
    readonly notable_items: readonly RadarSnapshot[];
    readonly prepared_at: string;
  }
>;

/** `null` clears. */
export type BriefFeedbackGiven = Event<
  'BriefFeedbackGiven',
  {
    readonly workspace_id: string;
    readonly brief_id: string;
    readonly feedback: BriefFeedback | null;
    readonly given_at: string;
  }
>;

export type BriefEvent = BriefPrepared | BriefFeedbackGiven;
