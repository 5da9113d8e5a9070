import { type DetectedTool, SITE_TOOLS_MAX } from '#contracts/observations/site-scan.ts';
import { slugOf } from '#domain/ids.ts';
import { brandDomainOf } from '../scan-key.ts';
import { brokenJson } from '../parsing/json-faults.ts';
import { jsonRecords } from '../parsing/json-records.ts';
import { isObject, type JsonObject, objectAt, objectsAt } from '../parsing/json-value.ts';
import type { RefusedRecord } from '../record.ts';
import type { SideObservation, SideReader } from '../side-record.ts';

const COLLECTOR = 'technologies-json';
/** Category of a technology without one. */
const UNCATEGORIZED = 'Other';
const SLUG_MAX_LENGTH = 100;

/** Returns true for a record of a technology detector: a site's address and its `technologies`. */
export const isTechnologies = (value: JsonObject): boolean =>
  Array.isArray(value['technologies']) &&
  (typeof value['url'] === 'string' || typeof value['domain'] === 'string' || isObject(value['urls'])) &&
  objectsAt(value, 'technologies').every((technology) => typeof technology['name'] === 'string');

const textAt = (value: JsonObject, key: string): string | null => {
  const text = value[key];
  return typeof text === 'string' && text.trim() !== '' ? text.trim() : null;
};

const addressOf = (technology: JsonObject): string | null => {
  const address = textAt(technology, 'website');
  return address !== null && /^https?:/.test(address) && URL.canParse(address) ? address : null;
};

/** Returns the first category of a tool, which is its main purpose. Detectors list several. */
const categoryOf = (technology: JsonObject): string => {
  const { categories } = technology;
  const [first] = Array.isArray(categories) ? (categories as readonly unknown[]) : [];
  if (typeof first === 'string' && first.trim() !== '') return first.trim();
  return (isObject(first) ? textAt(first, 'name') : null) ?? UNCATEGORIZED;
};

const toolOf = (technology: JsonObject): DetectedTool => {
  const name = textAt(technology, 'name') ?? '';
  return {
    // Normalized, because detectors spell slugs differently.
    slug: slugOf(textAt(technology, 'slug') ?? name).slice(0, SLUG_MAX_LENGTH),
    name,
    category: categoryOf(technology),
    website_url: addressOf(technology),
  };
};

/** Returns the domain of a record's site, from its one address or the first of several. `null` when it has none. */
const domainOf = (value: JsonObject): string | null => {
  const address = textAt(value, 'url') ?? textAt(value, 'domain') ?? Object.keys(objectAt(value, 'urls'))[0];
  return address === undefined ? null : brandDomainOf(address);
};

type Site = {
  readonly line: number;
  readonly raw: string;
  readonly domain: string;
  readonly tools: Map<string, DetectedTool>;
};

/**
 * Reads exports of technology detectors: one site or a list of sites, each with its detected technologies. Consecutive
 * records of one site are one scan. Such exports have no configuration of split-testing tools, so the scan lists no
 * split tests and no tool whose tests were read.
 */
export const readTechnologiesJson: SideReader = async function* (
  source,
  { brandDomain, observedAt, complete },
) {
  if (observedAt === null) return;
  let site = null as Site | null;
  for await (const item of jsonRecords(source)) {
    if (item.kind === 'broken') {
      yield brokenJson(item);
      continue;
    }
    if (item.kind === 'envelope') continue;
    const { line, raw, value } = item;
    const domain = brandDomain ?? domainOf(value);
    if (!isTechnologies(value) && !(brandDomain !== null && Array.isArray(value['technologies']))) {
      yield refused(
        line,
        raw,
        'is not a site with technologies',
        'remove the record, or set the right --format',
      );
    } else if (domain === null) {
      yield refused(line, raw, 'has no valid domain in its address', 'add --brand DOMAIN');
    } else {
      if (site !== null && site.domain !== domain) yield scanOf(site, observedAt, complete);
      site = site?.domain === domain ? site : { line, raw, domain, tools: new Map() };
      for (const technology of objectsAt(value, 'technologies')) {
        const tool = toolOf(technology);
        if (!site.tools.has(tool.slug)) site.tools.set(tool.slug, tool);
      }
    }
  }
  if (site !== null) yield scanOf(site, observedAt, complete);
};

const scanOf = (site: Site, observed_at: string, complete: boolean): SideObservation | RefusedRecord => {
  const { line, raw, domain, tools } = site;
  if (tools.size > SITE_TOOLS_MAX)
    return refused(line, raw, `has more than ${SITE_TOOLS_MAX} technologies`, 'remove some of them');
  return {
    kind: 'observation',
    line,
    raw,
    observation: {
      type: 'site.scan',
      domain,
      observed_at,
      collector: COLLECTOR,
      complete,
      tools: [...tools.values()],
      split_test_tools: [],
      split_tests: [],
    },
  };
};

const refused = (line: number, raw: string, what: string, advice: string): RefusedRecord => ({
  kind: 'refused',
  line,
  what,
  advice,
  raw,
  adId: null,
});
