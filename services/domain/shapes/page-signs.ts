/** Texts are trimmed, with single spaces. */
export type PageSigns = {
  readonly title: string | null;
  readonly language: string | null;
  readonly canonical: string | null;
  readonly meta: Readonly<Record<string, readonly string[]>>;
  readonly jsonLd: readonly unknown[];
  readonly relations: readonly { readonly rel: string; readonly href: string }[];
  readonly links: readonly { readonly href: string; readonly text: string }[];
  readonly headings: readonly string[];
  readonly ctaTexts: readonly string[];
  readonly lines: readonly string[];
};

/** First value that is not empty; `null` when there is none. */
export const metaAt = ({ meta }: Pick<PageSigns, 'meta'>, ...names: readonly string[]): string | null =>
  names.flatMap((name) => meta[name] ?? []).find((value) => value !== '') ?? null;

/** Absolute http or https URL; `null` for another one. */
export const addressOn = (pageUrl: string, href: string | null): string | null => {
  const url = href === null ? null : URL.parse(href, pageUrl);
  return url !== null && /^https?:$/.test(url.protocol) ? url.href : null;
};
