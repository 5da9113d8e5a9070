/** Dates are `YYYY-MM-DD` in UTC. */
export type WorldAd = {
  readonly id: string;
  readonly pageId: string;
  readonly pageName: string;
  /** Seconds since 1970. The library shows the newest first. */
  readonly createdSeconds: number;
  readonly startedOn: string;
  /** A day before today has ended the ad; `null` has no end. */
  readonly stoppedOn: string | null;
  readonly bodies: readonly string[];
  readonly titles: readonly string[];
  readonly caption: string;
  readonly countries: readonly string[];
};

/** A fault takes the place of one answer. */
export type ArchiveFault =
  | {
      readonly kind: 'error';
      readonly code: number;
      readonly subcode?: number;
      readonly status?: number;
      readonly message?: string;
      /** Minutes in the usage header until access opens again. */
      readonly regainMinutes?: number;
    }
  | { readonly kind: 'html' }
  /** The JSON of the answer without its end. */
  | { readonly kind: 'cut' }
  | { readonly kind: 'large' }
  | { readonly kind: 'network' };

export type ArchiveFaults = {
  /** Faults of the next calls, one each. `null` answers that call well. */
  next: (ArchiveFault | null)[];
  /** Pages that are not found by id for a while, and when each was first asked for, in milliseconds since 1970. */
  readonly forgotten: Set<string>;
  readonly forgottenSinceMs: Map<string, number>;
  /** Milliseconds from then on until such a page is found again. */
  forgottenForMs: number;
  readonly refused: Set<string>;
  /** Answers of more ads are refused as too much data; `null` for none. */
  adsMax: number | null;
  /** Serves the second answer of a list again and again. */
  loops: boolean;
  zeroPageIds: boolean;
};

export type WorldRequest = { readonly path: string; readonly authorization: string | undefined };
export type WorldAnswer = {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
};

export type ArchiveWorld = {
  readonly ads: WorldAd[];
  readonly tokens: Set<string>;
  readonly faults: ArchiveFaults;
  /** Usage in percent that one call takes in an hour. */
  percentPerCall: number;
  readonly calls: { readonly path: string; readonly atMs: number }[];
  /** `null` closes the connection. */
  answer(request: WorldRequest): WorldAnswer | null;
};

const LIMIT_DEFAULT = 25;
const LIMIT_MAX = 5_000;
const PAGES_MAX = 10;
/** More bytes than `ANSWER_MAX_BYTES` of the collector. */
const LARGE_BYTES = 17 * 1024 ** 2;
const HOUR_MS = 3_600_000;
const JSON_TYPE = { 'content-type': 'application/json; charset=UTF-8' };

const listAt = (parameters: URLSearchParams, name: string): readonly string[] =>
  (parameters.get(name) ?? '')
    .replaceAll(/[[\]'"\s]/g, '')
    .split(',')
    .filter(Boolean);

const positionOf = (ad: WorldAd): string => `${ad.createdSeconds}:${ad.id.padStart(20, '0')}`;
const cursorOf = (ad: WorldAd): string => Buffer.from(positionOf(ad)).toString('base64url');

const contains = ({ bodies, titles, caption, pageName }: WorldAd, phrase: string): boolean =>
  [...bodies, ...titles, caption, pageName].some((text) => text.toLowerCase().includes(phrase));

const shown = (ad: WorldAd, fields: readonly string[], zeroPageIds: boolean): object => {
  const all: Readonly<Record<string, unknown>> = {
    id: ad.id,
    page_id: zeroPageIds ? '0' : ad.pageId,
    page_name: ad.pageName,
    ad_delivery_start_time: ad.startedOn,
    ad_delivery_stop_time: ad.stoppedOn ?? undefined,
    ad_creative_bodies: ad.bodies,
    ad_creative_link_titles: ad.titles,
    ad_creative_link_captions: [ad.caption],
    languages: ['en'],
    publisher_platforms: ['facebook', 'instagram'],
    ad_snapshot_url: `https://library.example/ads/archive/render_ad/?id=${ad.id}&access_token=EAAplayedsecrettoken`,
    eu_total_reach: 4_711_471,
    age_country_gender_reach_breakdown: ad.countries.map((country) => ({
      country,
      age_gender_breakdowns: [{ age_range: '18-24', male: 4_711_471, female: 1 }],
    })),
  };
  return Object.fromEntries(['id', ...fields].map((field) => [field, all[field]]));
};

/** `adsOf` returns the ads of a page at `now`, and `pageIds` the pages in whose ads a phrase is searched. */
export const createArchiveWorld = (
  now: () => Date,
  adsOf: (pageId: string) => Iterable<WorldAd> = () => [],
  pageIds: readonly string[] = [],
): ArchiveWorld => {
  const faults: ArchiveFaults = {
    next: [],
    forgotten: new Set(),
    forgottenSinceMs: new Map(),
    forgottenForMs: Number.POSITIVE_INFINITY,
    refused: new Set(),
    adsMax: null,
    loops: false,
    zeroPageIds: false,
  };
  const percentNow = (): number => {
    const from = now().getTime() - HOUR_MS;
    return Math.floor(world.calls.filter(({ atMs }) => atMs > from).length * world.percentPerCall);
  };
  const usage = (regainMinutes: number) => ({
    'x-business-use-case-usage': JSON.stringify({
      '1000001': [
        {
          type: 'ads_archive',
          call_count: Math.floor(percentNow() / 10),
          total_cputime: 0,
          total_time: percentNow(),
          estimated_time_to_regain_access: regainMinutes,
        },
      ],
    }),
  });
  const error = (fault: Extract<ArchiveFault, { readonly kind: 'error' }>): WorldAnswer => ({
    status: fault.status ?? (fault.code <= 2 ? 500 : 400),
    headers: { ...JSON_TYPE, ...usage(fault.regainMinutes ?? 0) },
    body: JSON.stringify({
      error: {
        message: fault.message ?? `Played error ${fault.code}`,
        type: 'OAuthException',
        code: fault.code,
        ...(fault.subcode === undefined ? {} : { error_subcode: fault.subcode }),
        fbtrace_id: 'A1b2',
      },
    }),
  });

  const isForgotten = (pageId: string): boolean => {
    if (!faults.forgotten.has(pageId)) return false;
    const nowMs = now().getTime();
    const sinceMs = faults.forgottenSinceMs.get(pageId) ?? nowMs;
    faults.forgottenSinceMs.set(pageId, sinceMs);
    return nowMs - sinceMs < faults.forgottenForMs;
  };

  /** Newest first: the ads of pages, or those that contain a phrase. */
  const selected = (parameters: URLSearchParams): readonly WorldAd[] => {
    const phrase = parameters.get('search_terms')?.toLowerCase() ?? null;
    const asked = phrase === null ? listAt(parameters, 'search_page_ids') : pageIds;
    const countries = listAt(parameters, 'ad_reached_countries');
    const isActive = parameters.get('ad_active_status') !== 'INACTIVE';
    const since = parameters.get('ad_delivery_date_min') ?? '';
    const today = now().toISOString().slice(0, 10);
    const isAsked = (ad: WorldAd): boolean =>
      phrase === null ? asked.includes(ad.pageId) : contains(ad, phrase);
    const isInState =
      parameters.get('ad_active_status') === 'ALL' ? () => true : (ended: boolean) => ended !== isActive;
    return [...world.ads, ...asked.flatMap((pageId) => [...adsOf(pageId)])]
      .filter((ad) => {
        const { pageId, stoppedOn, countries: delivered } = ad;
        const ended = stoppedOn !== null && stoppedOn < today;
        const isDelivered = delivered.some((country) => countries.includes(country));
        const isShown = isDelivered && isInState(ended) && (stoppedOn ?? today) >= since;
        return isShown && isAsked(ad) && !isForgotten(pageId);
      })
      .toSorted((a, b) => (positionOf(a) < positionOf(b) ? 1 : -1));
  };

  const page = (parameters: URLSearchParams, token: string): WorldAnswer => {
    const after = parameters.get('after');
    const limit = Math.min(Number(parameters.get('limit') ?? LIMIT_DEFAULT), LIMIT_MAX);
    const position = after === null ? null : Buffer.from(after, 'base64url').toString();
    const all = selected(parameters);
    const rest = position === null || faults.loops ? all : all.filter((ad) => positionOf(ad) < position);
    const ads = rest.slice(0, limit);
    if (faults.adsMax !== null && ads.length > faults.adsMax) {
      return error({
        kind: 'error',
        code: 1,
        message: "Please reduce the amount of data you're asking for, then retry your request",
      });
    }
    const last = ads.at(-1);
    const cursor = last === undefined ? null : cursorOf(last);
    const next = `https://graph.facebook.com/v24.0/ads_archive?access_token=${token}&after=${cursor}`;
    const fields = listAt(parameters, 'fields');
    const body = JSON.stringify({
      data: ads.map((ad) => shown(ad, fields, faults.zeroPageIds)),
      // A short last page has a cursor too.
      ...(cursor === null ? {} : { paging: { cursors: { after: cursor }, next } }),
    });
    return { status: 200, headers: { ...JSON_TYPE, ...usage(0) }, body };
  };

  const checked = (parameters: URLSearchParams, token: string): WorldAnswer => {
    const asked = listAt(parameters, 'search_page_ids');
    if (!world.tokens.has(token)) {
      return error({ kind: 'error', code: 190, message: `Malformed access token ${token}` });
    }
    if (percentNow() >= 100) return error({ kind: 'error', code: 613, regainMinutes: 60 });
    const areWrong =
      asked.length === 0 || asked.length > PAGES_MAX || asked.some((id) => faults.refused.has(id));
    const isInvalid = areWrong && !parameters.has('search_terms');
    if (isInvalid || listAt(parameters, 'ad_reached_countries').length === 0) {
      return error({ kind: 'error', code: 100, message: 'Invalid parameter' });
    }
    return page(parameters, token);
  };

  const world: ArchiveWorld = {
    ads: [],
    tokens: new Set(),
    faults,
    percentPerCall: 0.5,
    calls: [],
    answer: ({ path, authorization }) => {
      const { searchParams } = new URL(path, 'https://graph.facebook.com');
      world.calls.push({ path, atMs: now().getTime() });
      const fault = faults.next.shift() ?? null;
      const token = searchParams.get('access_token') ?? authorization?.replace(/^Bearer /, '') ?? '';
      const answer = checked(searchParams, token);
      switch (fault?.kind) {
        case undefined:
          return answer;
        case 'error':
          return error(fault);
        case 'html':
          return { status: 200, headers: { 'content-type': 'text/html' }, body: '<html>Sorry</html>' };
        case 'cut':
          return { ...answer, body: answer.body.slice(0, -10) };
        case 'large':
          return { ...answer, body: JSON.stringify({ data: [], filler: 'x'.repeat(LARGE_BYTES) }) };
        case 'network':
          return null;
      }
    },
  };
  return world;
};
