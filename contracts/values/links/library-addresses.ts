/** Names, without signs and in lower case, of the record's own ad or page. A text may link to other ads. */
const OWN_ADDRESSES = {
  ad: `adsnapshoturl adsnapshotlink snapshoturl adlibraryurl adlibrarylink libraryurl librarylink adarchiveurl
    adarchivelink archiveurl adurl adlink adpermalink permalink`.split(/\s+/),
  page: `pageurl pagelink pageuri pageprofileuri pageprofileurl profileuri profileurl profilelink facebookurl
    facebookpageurl fbpageurl pagelibraryurl pageadlibraryurl viewallurl viewalladsurl advertiserurl`.split(
    /\s+/,
  ),
  /** They may also be of a search, a destination or another ad. */
  other: 'url link href details detailsurl detailslink addetailsurl addetailslink shareurl'.split(' '),
} as const;
type Kind = keyof typeof OWN_ADDRESSES;
const KINDS = Object.keys(OWN_ADDRESSES) as readonly Kind[];
/** Bounds the cache for a file with ever new names. */
const NAMES_MAX = 10_000;
const kinds = new Map<string, Kind | null>();

/** `null` for addresses that are not of the record's own ad or page. */
const kindOf = (name: string): Kind | null => {
  let kind = kinds.get(name);
  if (kind === undefined) {
    const last = name
      .slice(name.lastIndexOf('.') + 1)
      .toLowerCase()
      .replaceAll(/[^a-z]/g, '');
    kind = KINDS.find((one) => OWN_ADDRESSES[one].includes(last)) ?? null;
    if (kinds.size < NAMES_MAX) kinds.set(name, kind);
  }
  return kind;
};

/** Also as a formula of a spreadsheet: `=HYPERLINK("https://…";"ad")`. */
const LIBRARY =
  /^\s*(?:=HYPERLINK\(")?(?:https?:\/\/)?(?:[\w-]+\.)*(?:facebook|fb)\.com\/ads\/(?:library|archive\/render_ad)\/?\?/i;
const AD = /[?&;]id=(\d{5,20})(?:[&#"]|\s*$)/;
const PAGE = /[?&;]view_all_page_id=(\d{5,20})(?:[&#"]|\s*$)/;
const PROFILE = /facebook\.com\/(?:profile\.php\?id=|(?:pages|people)\/[^/]+\/)?(\d{5,20})\/?(?:[?#]|\s*$)/i;

/**
 * `near`: page ids that only decide between digits of a rounded id: a profile has another number than its page, and a
 * search shows ads that others run. `nearAds`: the same for ad ids of other addresses.
 */
export type NamedIds = { readonly [Name in 'ads' | 'nearAds' | 'pages' | 'near']: Set<string> };
const NAMED = ['ads', 'nearAds', 'pages', 'near'] as const;
export const noIds = (): NamedIds => ({
  ads: new Set(),
  nearAds: new Set(),
  pages: new Set(),
  near: new Set(),
});

export const addIdsOfAddress = (named: NamedIds, kind: Kind, address: string): void => {
  const isLibrary = LIBRARY.test(address);
  const found = {
    ads: isLibrary && kind === 'ad' ? AD : null,
    nearAds: isLibrary && kind === 'other' ? AD : null,
    pages: isLibrary && kind === 'page' ? PAGE : null,
    near: isLibrary ? PAGE : kind === 'page' ? PROFILE : null,
  };
  for (const to of NAMED) {
    const id = found[to]?.exec(address)?.[1];
    if (id !== undefined) named[to].add(id);
  }
};

/** Only members named like the record's own addresses count. */
export const namedIds = (parts: readonly { readonly [name: string]: unknown }[]): NamedIds => {
  const named = noIds();
  for (const part of parts) {
    for (const name of Object.keys(part)) {
      const kind = kindOf(name);
      const address = kind === null ? null : part[name];
      if (kind !== null && typeof address === 'string') addIdsOfAddress(named, kind, address);
    }
  }
  return named;
};
