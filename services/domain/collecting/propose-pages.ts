/** Ads with a caption of the domain from which a page of the same name is linked without an operator. */
export const LINKED_FROM_ADS = 3;
/** Certainty of such a link. */
export const LINKED_CONFIDENCE = 0.8;
/** Certainty of a page that an operator has not confirmed. */
export const PROPOSED_CONFIDENCE = 0.4;

/** An ad that a search found. */
export type FoundAd = {
  readonly adId: string;
  readonly pageId: string;
  readonly pageName: string | null;
  /** Texts that the advertiser typed in the place of an address. */
  readonly captions: readonly string[];
};

/** A page that may belong to a brand. */
export type PageProposal = {
  readonly pageId: string;
  readonly pageName: string | null;
  /** Ads whose caption has the domain. */
  readonly ads: number;
  /** Whether the link is certain enough to be used without an operator. */
  readonly isCertain: boolean;
};

/**
 * Returns the host that a caption names, in lower case, in ASCII (`xn--`) and without `www.`; `null` when it names none. A
 * look-alike from another script is another host.
 */
export const captionHost = (caption: string): string | null => {
  const text = caption.trim().replace(/^https?:\/\//i, '');
  const typed = text.split(/[/?#:\s]/)[0] ?? '';
  // An address may hide its host behind a name of a user.
  if (!/^[\p{L}\p{M}\p{N}-]+(\.[\p{L}\p{M}\p{N}-]+)+$/u.test(typed)) return null;
  const host = URL.parse(`https://${typed}`)?.hostname.replace(/^www\./, '') ?? '';
  return /^[a-z0-9-]+(\.[a-z0-9-]+)+$/.test(host) ? host : null;
};

/** Returns a name without case, accents, spaces and signs. */
const plainName = (name: string): string =>
  name
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]/gu, '');

/**
 * Proposes the pages of a brand: those with an ad whose caption names the domain, most ads first. A page is certain when it
 * has the name of the brand, or its domain as name, and three such ads: anybody may type any caption.
 */
export const proposePages = (
  ads: readonly FoundAd[],
  { domain, name }: { readonly domain: string; readonly name: string | null },
): readonly PageProposal[] => {
  const names = new Set([domain, ...(name === null ? [] : [name])].map(plainName));
  const isOwn = ({ captions }: FoundAd): boolean =>
    captions.map(captionHost).some((host) => host === domain || host?.endsWith(`.${domain}`) === true);
  const pages = new Map<string, { pageName: string | null; ids: Set<string> }>();
  for (const ad of ads.filter(isOwn)) {
    const page = pages.get(ad.pageId) ?? { pageName: null, ids: new Set<string>() };
    pages.set(ad.pageId, { pageName: page.pageName ?? ad.pageName, ids: page.ids.add(ad.adId) });
  }
  return [...pages]
    .map(([pageId, { pageName, ids }]) => ({
      pageId,
      pageName,
      ads: ids.size,
      isCertain: ids.size >= LINKED_FROM_ADS && pageName !== null && names.has(plainName(pageName)),
    }))
    .toSorted((a, b) => b.ads - a.ads || (a.pageId < b.pageId ? -1 : 1));
};
