/** Names, without signs and in lower case, of the record's own ad or page. A text may link to other ads. */
const OWN_ADDRESSES = {
  ad: `adsnapshoturl adsnapshotlink snapshoturl adlibraryurl adlibrarylink libraryurl librarylink adarchiveurl
    adarchivelink archiveurl adurl adlink adpermalink permalink`.split(/\s+/),
  page: `pageurl pagelink pageuri pageprofileuri pageprofileurl profileuri profileurl profilelink facebookurl
    facebookpageurl fbpageurl pagelibraryurl pageadlibraryurl viewallurl viewalladsurl advertiserurl`.split(
    /\s+/,
  ),
} as const;
/** Bounds the cache for a file with ever new names. */
const NAMES_MAX = 10_000;
const kinds = new Map<string, 'ad' | 'page' | null>();

/** `null` for addresses that are not of the record's own ad or page. */
const kindOf = (name: string): 'ad' | 'page' | null => {
  let kind = kinds.get(name);
  if (kind === undefined) {
    const last = name
      .slice(name.lastIndexOf('.') + 1)
      .toLowerCase()
      .replaceAll(/[^a-z]/g, '');
    kind = OWN_ADDRESSES.ad.includes(last) ? 'ad' : OWN_ADDRESSES.page.includes(last) ? 'page' : null;
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
 * search shows ads that others run.
 */
export type NamedIds = { readonly [Kind in 'ads' | 'pages' | 'near']: Set<string> };

export const addIdsOfAddress = (named: NamedIds, kind: 'ad' | 'page', address: string): void => {
  const isLibrary = LIBRARY.test(address);
  const found = {
    ads: isLibrary && kind === 'ad' ? AD : null,
    pages: isLibrary && kind === 'page' ? PAGE : null,
    near: isLibrary ? PAGE : kind === 'page' ? PROFILE : null,
  };
  for (const to of ['ads', 'pages', 'near'] as const) {
    const id = found[to]?.exec(address)?.[1];
    if (id !== undefined) named[to].add(id);
  }
};

/** Only members named like the record's own addresses count. */
export const namedIds = (parts: readonly { readonly [name: string]: unknown }[]): NamedIds => {
  const named: NamedIds = { ads: new Set(), pages: new Set(), near: new Set() };
  for (const part of parts) {
    for (const name of Object.keys(part)) {
      const kind = kindOf(name);
      const address = kind === null ? null : part[name];
      if (kind !== null && typeof address === 'string') addIdsOfAddress(named, kind, address);
    }
  }
  return named;
};
