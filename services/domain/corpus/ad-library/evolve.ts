import { mapValues } from 'es-toolkit/object/mapValues';
import { omit } from 'es-toolkit/object/omit';
import { pickBy } from 'es-toolkit/object/pickBy';
import type { AdLibraryEvent, AdStarted, LeftBlank } from '#contracts/events/corpus/ad-library.ts';
import type { AdContent, BlankField, ShownFields } from '#contracts/events/corpus/ad-library-values.ts';
import type { AdLook, AdRecord } from '#contracts/events/corpus/ad-library-corrections.ts';
import { isBlank, withChanges } from './ad-content.ts';
import { type AdState, lastSeenAt, type LibraryState, NO_COUNTS, NO_PAGE, type ScanCounts } from './state.ts';
import { stopDateSince, withLook } from './timeline.ts';

const stateOf = (ad: AdRecord): AdState => omit(ad, ['format', 'not_shown_since']);

const nonBlank = (content: AdContent): Partial<AdContent> => pickBy(content, (value) => !isBlank(value));

const shownAtStart = (data: AdStarted['data']): ShownFields => ({
  ...nonBlank(data.content),
  ...(data.page_id === null ? {} : { page_id: data.page_id, page_name: data.page_name }),
  ...(data.started_on === null ? {} : { started_on: data.started_on }),
  countries: data.countries,
  ...(data.branded_content ? { branded_content: data.branded_content } : {}),
});

const cardsByAd = (cards: LeftBlank['cards']): ReadonlyMap<string, ShownFields> =>
  new Map((cards ?? []).map(({ ad_id, cards: shown }) => [ad_id, { cards: shown }]));

const later = (a: string | null, b: string): string => (a !== null && a > b ? a : b);

/** Changes the state in place: a scan may fold tens of thousands of events. Safe, because each state has one owner. */
export const evolve = (state: LibraryState, event: AdLibraryEvent): LibraryState => {
  const { scan_id, observed_at } = event.data;
  const count = (name: keyof ScanCounts, by = 1): void => {
    const open =
      state.open?.scan_id === scan_id ? state.open : { scan_id, counts: NO_COUNTS, differences: [] };
    state.open = { ...open, counts: { ...open.counts, [name]: open.counts[name] + by } };
  };
  const update = (
    adId: string,
    change: (ad: AdState) => Partial<AdState>,
    kind: AdLook['kind'] = 'running',
    shown: ShownFields | ((ad: AdState) => ShownFields) = {},
    blank?: readonly BlankField[],
  ): void => {
    const ad = state.ads.get(adId);
    if (!ad) return;
    const fields = typeof shown === 'function' ? shown(ad) : shown;
    const look = { scan_id, observed_at, kind, shown: fields, ...(blank ? { blank } : {}) };
    const changed = { ...change(ad), looks: withLook(ad.looks, look) };
    if (changed.status && changed.status !== ad.status) {
      if (ad.status === 'missing') state.missing -= 1;
      if (changed.status === 'missing') state.missing += 1;
      if (ad.status === 'inactive') state.live += 1;
      if (changed.status === 'inactive') state.live -= 1;
    }
    state.ads.set(adId, { ...ad, ...changed });
  };
  const replace = (adId: string, next: AdState | null): void => {
    const before = state.ads.get(adId) ?? null;
    for (const [ad, by] of [
      [before, -1],
      [next, 1],
    ] as const) {
      if (ad === null) continue;
      state.total += by;
      if (ad.status !== 'inactive') state.live += by;
      if (ad.status === 'missing') state.missing += by;
    }
    if (next === null) state.ads.delete(adId);
    else state.ads.set(adId, next);
  };

  switch (event.type) {
    case 'AdStarted': {
      const { data } = event;
      state.ads.set(data.ad_id, {
        ad_id: data.ad_id,
        page_id: data.page_id,
        page_name: data.page_name,
        status: data.missing_since === null ? 'active' : 'missing',
        novelty: data.novelty,
        seen_at: observed_at,
        missing_since: data.missing_since,
        inactive_since: null,
        observed_running: true,
        started_on: data.started_on,
        countries: data.countries,
        ...(data.requested_countries ? { requested_countries: data.requested_countries } : {}),
        first_seen_at: observed_at,
        basis: null,
        stopped_on: null,
        looks: withLook([], { scan_id, observed_at, kind: 'running', shown: shownAtStart(data) }),
        collector: data.collector,
        content: data.content,
        ...(data.branded_content ? { branded_content: data.branded_content } : {}),
      });
      state.total += 1;
      state.live += 1;
      if (data.missing_since !== null) state.missing += 1;
      count(data.novelty);
      return state;
    }
    case 'AdRevised':
      update(
        event.data.ad_id,
        (ad) => ({ content: withChanges(ad.content, event.data.changes) }),
        'running',
        mapValues(event.data.changes, (change) => change?.to) as Partial<AdContent>,
      );
      count('revised');
      return state;
    case 'AdDetailsObserved': {
      const { details, added_countries, requested_countries, branded_content, ...data } = event.data;
      const partner = branded_content ? { branded_content } : {};
      const { started_on, countries, page_id, page_name } = data;
      update(
        data.ad_id,
        (ad) => ({
          content: { ...ad.content, ...details },
          started_on,
          countries,
          ...((requested_countries ?? ad.requested_countries)
            ? { requested_countries: requested_countries ?? countries }
            : {}),
          page_id,
          page_name,
          ...partner,
        }),
        'running',
        // An unchanged start date or page may have been blank in the scan.
        (ad) => ({
          ...details,
          ...(started_on === ad.started_on ? {} : { started_on }),
          ...(page_id === ad.page_id ? {} : { page_id, page_name }),
          countries: added_countries,
          ...partner,
        }),
      );
      return state;
    }
    case 'AdDestinationChanged':
      update(
        event.data.ad_id,
        (ad) => ({ content: { ...ad.content, link_url: event.data.to_url } }),
        'running',
        { link_url: event.data.to_url },
      );
      count('destination_changed');
      return state;
    case 'AdConfirmedInactive':
      update(
        event.data.ad_id,
        ({ looks: [first, ...others], observed_running }) => ({
          status: 'inactive',
          inactive_since: observed_at,
          missing_since: null,
          basis: event.data.basis,
          stopped_on: event.data.stopped_on,
          seen_at: event.data.last_seen_at,
          observed_running: observed_running && (others.length > 0 || first?.scan_id !== scan_id),
        }),
        event.data.basis === 'library' ? 'ended' : 'absent',
        event.data.stopped_on === null ? {} : { stopped_on: event.data.stopped_on },
      );
      if (event.data.news) count('stopped');
      return state;
    case 'AdReturned':
      update(event.data.ad_id, () => ({
        status: 'active',
        inactive_since: null,
        missing_since: null,
        basis: null,
        stopped_on: null,
        seen_at: observed_at,
        observed_running: true,
      }));
      count('returned');
      return state;
    case 'AdsMissed':
      for (const adId of event.data.ad_ids) {
        update(
          adId,
          (ad) => ({
            status: 'missing',
            missing_since: observed_at,
            seen_at: lastSeenAt(ad, state.pages.get(ad.page_id ?? NO_PAGE)),
          }),
          'absent',
        );
      }
      return state;
    case 'AdsSeen': {
      const cards = cardsByAd(event.data.cards);
      for (const adId of event.data.ad_ids) {
        update(
          adId,
          (ad) => ({
            status: ad.status === 'inactive' ? 'inactive' : 'active',
            missing_since: null,
            seen_at: later(ad.seen_at, observed_at),
          }),
          'running',
          cards.get(adId),
          event.data.blank,
        );
      }
      return state;
    }
    case 'AdsStillInactive': {
      const cards = cardsByAd(event.data.cards);
      const { kind, blank, stopped_on } = event.data;
      const shownOf = ({ ad_id, looks }: AdState): ShownFields => {
        const stop = stopped_on === undefined && kind === 'ended' ? stopDateSince(looks) : stopped_on;
        return { ...cards.get(ad_id), ...(stop ? { stopped_on: stop } : {}) };
      };
      for (const adId of event.data.ad_ids) update(adId, () => ({}), kind, shownOf, blank);
      return state;
    }
    case 'AdsReworded':
      for (const { ad_id, wording } of event.data.ads) {
        update(
          ad_id,
          (ad) => ({ content: { ...ad.content, ...wording }, collector: event.data.collector }),
          'running',
          wording,
        );
      }
      count('reworded', event.data.ads.length);
      if (state.open) state.open = { ...state.open, differences: event.data.differences };
      return state;
    case 'AdObservationCorrected':
      replace(event.data.ad_id, stateOf(event.data.after));
      return state;
    case 'AdAttributed':
      replace(
        event.data.ad_id,
        event.data.brand_id === event.data.to_brand_id ? stateOf(event.data.ad) : null,
      );
      return state;
    case 'ScanCorrected':
      return state;
    case 'ScanRecorded': {
      for (const { page_id, partial } of event.data.pages) {
        const page = state.pages.get(page_id);
        const allSeen = page?.all_seen_at ?? null;
        const lastComplete = page?.last_complete_at ?? null;
        const isNext = event.data.complete && (lastComplete === null || observed_at > lastComplete);
        const newest = !page || observed_at >= page.last_scan_at;
        state.pages.set(page_id, {
          page_id,
          first_scan_at: page && page.first_scan_at < observed_at ? page.first_scan_at : observed_at,
          last_scan_at: newest ? observed_at : page.last_scan_at,
          last_complete_at: isNext ? observed_at : lastComplete,
          complete_before: isNext ? lastComplete : (page?.complete_before ?? null),
          all_seen_at: event.data.complete && !partial ? later(allSeen, observed_at) : allSeen,
        });
      }
      state.recordedScans.add(scan_id);
      if (state.open?.scan_id === scan_id) state.open = null;
      return state;
    }
  }
};
