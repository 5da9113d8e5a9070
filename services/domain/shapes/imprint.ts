import type { OperatorRecord } from '#contracts/observations/operator-record.ts';
import type { PageSigns } from './page-signs.ts';

const IMPRINT_WORDS =
  /\b(imprint|impressum|legal[ _-]?notice|mentions[ _-]?l[eé]gales|aviso[ _-]?legal|note[ _-]?legali|informazioni[ _-]?legali|colofon|company[ _-]?(info|information|details))\b/i;

const LEGAL_FORM =
  /(?:^|\s)(GmbH(?:\s?&\s?Co\.?\s?KG(?:aA)?)?|UG(?:\s?\(haftungsbeschränkt\))?|AG(?:\s?&\s?Co\.?\s?KG)?|KGaA|e\.\s?K\.|OHG|S\.?A\.?S\.?U?|S\.?A\.?R\.?L\.?|S\.?\s?r\.?\s?l\.?|S\.?p\.?A\.?|S\.?L\.?U?\.?|B\.?V\.?|N\.?V\.?|Lda\.?|Ltd\.?|Limited|LLP|PLC|LLC|L\.L\.C\.|Inc\.?|Corp\.?|ApS|A\/S|AB|Oy|AS|sp\. z o\.\s?o\.|s\.r\.o\.|a\.s\.)$/i;
/** Companies after these words made or host the site, or settle disputes. */
const OTHERS =
  /\b(web ?design|design(ed)? (by|und|and)|umsetzung|realisi?erung|agentur|agency|hosting|hosted|hébergeur|hébergement|hosteur|alojamiento|powered by|streitbeilegung|versicherung)\b/i;

const NAME_MAX_LENGTH = 100;
const LINES_MAX = 200;
/** Label before a company: `Company: Shop Ltd`. */
const LABEL = /^[^:]{1,40}:\s*/;

export const leadsToImprint = ({ href, text }: { readonly href: string; readonly text: string }): boolean =>
  IMPRINT_WORDS.test(text) || IMPRINT_WORDS.test(href);

/** Recognized by its legal form; `null` when there is none before the companies that made or host the site. */
export const imprintCompanyOf = ({ lines }: Pick<PageSigns, 'lines'>): string | null => {
  for (const line of lines.slice(0, LINES_MAX)) {
    if (OTHERS.test(line)) return null;
    for (const part of line.split(/\s*[|•·,;]\s*/)) {
      const name = part.replace(LABEL, '').trim();
      const form = LEGAL_FORM.exec(name)?.[1];
      const isName = form !== undefined && name.length > form.length && name.length <= NAME_MAX_LENGTH;
      // A sentence that ends with a company has verbs; a name has few words.
      if (isName && name.split(' ').length <= 8) return name;
    }
  }
  return null;
};

/** Equal for any spacing and capitalisation, as the operator's id. */
export const companyKey = (name: string): string =>
  name.normalize('NFKC').toLowerCase().replace(/\s+/g, ' ').trim();

export const imprintRecord = (
  name: string,
  sites: readonly { readonly domain: string }[],
  observedAt: string,
): OperatorRecord => ({
  type: 'operator.record',
  observed_at: observedAt,
  name,
  country: null,
  basis: 'site_imprint',
  domains: sites.map(({ domain }) => domain).toSorted(),
  page_ids: [],
});
