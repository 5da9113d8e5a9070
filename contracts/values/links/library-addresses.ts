/**
 * Names of members and columns with an address of the record's own ad, or of its page, without signs and in lower case. Other
 * addresses do not count: a text may link to another ad.
 */
const OWN_ADDRESSES = {
  ad: `adsnapshoturl adsnapshotlink snapshoturl adlibraryurl adlibrarylink libraryurl librarylink adarchiveurl
    adarchivelink archiveurl adurl adlink adpermalink permalink`.split(/\s+/),
  page: `pageurl pagelink pageuri pageprofileuri pageprofileurl profileuri profileurl profilelink facebookurl
    facebookpageurl fbpageurl pagelibraryurl pageadlibraryurl viewallurl viewalladsurl advertiserurl`.split(
    /\s+/,
  ),
} as const;
/** Maximum names whose kind is kept, so that a file with ever new names takes no memory. */
const NAMES_MAX = 10_000;
const kinds = new Map<string, 'ad' | 'page' | null>();

/** Returns what the address in a member or a column is of. `null` for all that are not of the record's own ad or page. */
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
 * Ids that addresses name. `near`: ids of the page that only decide between the digits of a rounded id, because a profile has
 * another number than its page has in the library, and a search for one page also shows ads that others run with it.
 */
export type NamedIds = { readonly [Kind in 'ads' | 'pages' | 'near']: Set<string> };

/** Adds the ids that the address of a record's own ad or page names. */
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

/** Returns the ids that the addresses in parts of a record name. Only members with the name of such an address count. */
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
