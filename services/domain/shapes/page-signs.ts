/** Contents of an HTML page that observations are made of. Texts are trimmed, with single spaces. */
export type PageSigns = {
  readonly title: string | null;
  /** Language that the page declares, such as `en-US`. */
  readonly language: string | null;
  /** Address that the page declares as its own, as written. */
  readonly canonical: string | null;
  /** Values by the lower-case `name` or `property` of the meta elements. */
  readonly meta: Readonly<Record<string, readonly string[]>>;
  /** Parsed blocks of JSON-LD. */
  readonly jsonLd: readonly unknown[];
  /** Elements `link` with their relation in lower case. */
  readonly relations: readonly { readonly rel: string; readonly href: string }[];
  readonly links: readonly { readonly href: string; readonly text: string }[];
  readonly headings: readonly string[];
  /** Texts of buttons, and of links that look like buttons. */
  readonly ctaTexts: readonly string[];
  /** Visible text, one entry for each block. */
  readonly lines: readonly string[];
};

/** Returns the first value of a meta element that is not empty; `null` when there is none. */
export const metaAt = ({ meta }: Pick<PageSigns, 'meta'>, ...names: readonly string[]): string | null =>
  names.flatMap((name) => meta[name] ?? []).find((value) => value !== '') ?? null;

/** Returns an address on a page as an absolute http or https URL; `null` when it is none. */
export const addressOn = (pageUrl: string, href: string | null): string | null => {
  const url = href === null ? null : URL.parse(href, pageUrl);
  return url !== null && /^https?:$/.test(url.protocol) ? url.href : null;
};
