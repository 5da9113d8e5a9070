import { cutTrimmedText } from '#contracts/values/text.ts';
import { SECOND_MS } from '#contracts/values/time.ts';
import type { FoundAd } from '#domain/collecting/propose-pages.ts';
import { isObject, type JsonObject } from '#domain/shapes/json-object.ts';
import type { AccountAnswer, PacedAccount } from '../ads-archive/paced-account.ts';

const ANSWERS_MAX = 4;
const ANSWER_ADS = 250;
const TRIES_MAX = 3;
const TRY_FIRST_MS = 10 * SECOND_MS;

const PAGE_NAME_MAX_LENGTH = 500;

export type PageSearch = {
  readonly account: Pick<PacedAccount, 'call'>;
  readonly countries: readonly string[];
  /** Ends at once on abort. */
  readonly wait: (ms: number, signal: AbortSignal) => Promise<void>;
  readonly signal: AbortSignal;
};

export type SearchResult = {
  readonly ads: readonly FoundAd[];
  readonly calls: number;
  /** `null` when all replies were read. */
  readonly fault: string | null;
  readonly isCut: boolean;
};

const PageName = cutTrimmedText(PAGE_NAME_MAX_LENGTH);

const textsAt = (value: JsonObject, key: string): readonly string[] => {
  const list = value[key];
  return Array.isArray(list) ? list.filter((text) => typeof text === 'string') : [];
};

const foundAd = (row: unknown): FoundAd | null => {
  if (!isObject(row)) return null;
  const { id, page_id: pageId, page_name: pageName } = row;
  const isId = typeof id === 'string' && typeof pageId === 'string' && /^[1-9]\d{4,19}$/.test(pageId);
  if (!isId) return null;
  const name = PageName.safeParse(pageName);
  return {
    adId: id,
    pageId,
    pageName: name.success ? name.data : null,
    captions: textsAt(row, 'ad_creative_link_captions'),
  };
};

const callWithTries = async (
  { account, countries, wait, signal }: PageSearch,
  phrase: string,
  after: string | null,
): Promise<{ readonly answer: AccountAnswer; readonly tries: number }> => {
  let limit = ANSWER_ADS;
  for (let tries = 1; ; tries += 1) {
    const answer = await account.call({ phrase, countries, limit, after }, signal);
    if (answer.kind === 'reduce') limit = Math.max(Math.floor(limit / 2), 10);
    else if (answer.kind !== 'fault') return { answer, tries };
    if (tries === TRIES_MAX) return { answer, tries };
    if (answer.kind === 'fault') await wait(TRY_FIRST_MS * 2 ** (tries - 1), signal);
    signal.throwIfAborted();
  }
};

export const searchPages = async (search: PageSearch, phrases: readonly string[]): Promise<SearchResult> => {
  const ads = new Map<string, FoundAd>();
  let calls = 0;
  let isCut = false;
  for (const phrase of phrases) {
    let after: string | null = null;
    for (let answers = 0; ; answers += 1) {
      if (answers === ANSWERS_MAX) {
        isCut = true;
        break;
      }
      const { answer, tries } = await callWithTries(search, phrase, after);
      calls += tries;
      if (answer.kind !== 'page') return { ads: [...ads.values()], calls, fault: answer.detail, isCut };
      for (const ad of answer.ads.map(foundAd)) if (ad !== null) ads.set(ad.adId, ad);
      ({ after } = answer);
      if (answer.ads.length === 0 || after === null) break;
    }
  }
  return { ads: [...ads.values()], calls, fault: null, isCut };
};
