import type { AdStarted } from '#contracts/events/corpus/ad-library.ts';
import type { AdFormat } from '#contracts/values/primitives.ts';
import { isSaleCopy } from '#contracts/values/signals.ts';
import type { Change } from '../define-projection.ts';
import { appliedScan } from '../shared-tables/applied-scan.ts';
import { isNoLook, isOutOfOrder, scanKey } from '../shared-tables/observed-day.ts';
import {
  addStep,
  type LibraryEvent,
  meetLinks,
  meetPage,
  nameAd,
  putOccurrence,
  reportedBy,
} from './changes.ts';
import { attributeAd, correctAd } from './corrections.ts';
import { COPY, isLongRunner, textsOf } from './rules.ts';

const relabel = (event: LibraryEvent, minus: AdFormat, plus: AdFormat): readonly Change[] =>
  minus === plus ? [] : [addStep(event.data, { minus, plus, relabelled: 1 })];

const startAd = (event: LibraryEvent, { data }: AdStarted): readonly Change[] => {
  const { ad_id, page_id, page_name, novelty, content } = data;
  const news = novelty === 'news';
  const page = { ...reportedBy(event), social_page_id: page_id, page_name };
  return [
    addStep(
      { ...data, observed_at: data.counted_since ?? data.observed_at },
      { plus: data.format, uncovered: news ? 0 : 1 },
    ),
    ...(news ? [putOccurrence(event, ad_id, { ...data, kind: 'started' })] : []),
    ...(news && isSaleCopy(textsOf(content)) ? [nameAd(data, 'sale', { ...data, cause: 'started' })] : []),
    ...meetLinks(data, content, { ad_id, news, ...page }),
    ...meetPage(data, { ad_id, news, ...page, started_on: novelty === 'late' ? null : data.started_on }),
  ];
};

/** The signals of the day are computed at the end of the batch. */
export const projectAd = (event: LibraryEvent): readonly Change[] => {
  switch (event.type) {
    case 'AdStarted':
      return startAd(event, event);
    case 'AdRevised': {
      const { ad_id, changes, excerpt, observed_at } = event.data;
      const { page_id, page_name } = excerpt;
      const { format, cards } = changes;
      const meeting = { ...reportedBy(event), ad_id, social_page_id: page_id, page_name, news: true };
      const isRefreshed =
        COPY.some((field) => (changes[field]?.from ?? null) !== null) &&
        isLongRunner(event.data, observed_at);
      return [
        ...(format
          ? [addStep(event.data, { minus: format.from ?? 'other', plus: format.to ?? 'other' })]
          : []),
        ...(isRefreshed
          ? [nameAd(event.data, 'long_runner_refreshed', { ...event.data, cause: 'revised' })]
          : []),
        ...(cards ? meetLinks(event.data, { cards: cards.to }, meeting, { cards: cards.from }) : []),
      ];
    }
    case 'AdDestinationChanged': {
      const { ad_id, to_url, excerpt, observed_at } = event.data;
      const { page_id, page_name } = excerpt;
      return [
        putOccurrence(event, ad_id, { ...event.data, kind: 'destination_changed' }),
        ...(isLongRunner(event.data, observed_at)
          ? [nameAd(event.data, 'long_runner_refreshed', { ...event.data, cause: 'destination_changed' })]
          : []),
        ...meetLinks(
          event.data,
          { link_url: to_url },
          { ...reportedBy(event), ad_id, social_page_id: page_id, page_name, news: true },
        ),
      ];
    }
    case 'AdDetailsObserved': {
      const { ad_id, details, page_id, page_name, was_format } = event.data;
      const meeting = { ...reportedBy(event), ad_id, social_page_id: page_id, page_name, news: false };
      return [
        ...relabel(event, was_format, details.format ?? was_format),
        ...meetLinks(event.data, details, meeting),
        ...meetPage(event.data, meeting),
      ];
    }
    case 'AdObservationCorrected':
      return correctAd(event);
    case 'AdAttributed':
      return attributeAd(event);
    case 'ScanCorrected': {
      const { observed_at, reliable, totals } = event.data;
      const { active: active_ads, news: new_ads } = totals;
      const set = { observed_at, in_order: !isNoLook(event), reliable, active_ads, new_ads, corrected: true };
      return [{ kind: 'upsert', table: 'scan', key: scanKey(event), set }, appliedScan(event)];
    }
    case 'AdsReworded':
      return event.data.ads.flatMap(({ ad_id, was_format, format, wording }) => [
        ...relabel(event, was_format, format),
        ...meetLinks(event.data, wording, {
          ...reportedBy(event),
          ad_id,
          social_page_id: null,
          page_name: null,
          news: false,
        }),
      ]);
    case 'AdConfirmedInactive': {
      const { ad_id, format, news } = event.data;
      // An ad that had already ended when it was first seen leaves `uncovered` again.
      return news
        ? [
            addStep(event.data, { minus: format }),
            putOccurrence(event, ad_id, { ...event.data, kind: 'stopped' }),
          ]
        : [addStep(event.data, { minus: format, uncovered: event.data.observed_running ? 0 : -1 })];
    }
    case 'AdReturned':
      return [addStep(event.data, { plus: event.data.format })];
    case 'ScanRecorded': {
      const { observed_at, reliable, pages, totals, late_arrival } = event.data;
      const baseline = pages.length > 0 && pages.every((page) => page.baseline);
      const set = {
        observed_at,
        in_order: !isOutOfOrder(event),
        reliable,
        baseline,
        active_ads: totals.active,
        new_ads: totals.news,
        corrected: late_arrival,
        position: event.position,
      };
      return [{ kind: 'upsert', table: 'scan', key: scanKey(event), set }, appliedScan(event)];
    }
    case 'AdsMissed':
    case 'AdsSeen':
    case 'AdsStillInactive':
      return [];
  }
};
