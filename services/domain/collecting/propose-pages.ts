/** A page with the brand's name and this many ads is linked without an operator. */
export const LINKED_FROM_ADS = 3;
export const LINKED_CONFIDENCE = 0.8;
export const PROPOSED_CONFIDENCE = 0.4;

export type FoundAd = {
  readonly adId: string;
  readonly pageId: string;
  readonly pageName: string | null;
  /** Text that the advertiser typed as the link's address. */
  readonly captions: readonly string[];
};

export type PageProposal = {
  readonly pageId: string;
  readonly pageName: string | null;
  readonly ads: number;
  readonly isCertain: boolean;
};

/** Lower-case ASCII (`xn--`) host without `www.`; `null` without a host. A look-alike script is another host. */
export const captionHost = (caption: string): string | null => {
  const text = caption.trim().replace(/^https?:\/\//i, '');
  const typed = text.split(/[/?#:\s]/)[0] ?? '';
  // A user name in a URL may disguise the host.
  if (!/^[\p{L}\p{M}\p{N}-]+(\.[\p{L}\p{M}\p{N}-]+)+$/u.test(typed)) return null;
  const host = URL.parse(`https://${typed}`)?.hostname.replace(/^www\./, '') ?? '';
  return /^[a-z0-9-]+(\.[a-z0-9-]+)+$/.test(host) ? host : null;
};

const plainName = (name: string): string =>
  name
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]/gu, '');

/** A certain page has the name of the brand or domain and enough ads: anybody may type any caption. */
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
