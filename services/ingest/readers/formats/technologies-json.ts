import { type DetectedTool, SITE_TOOLS_MAX } from '#contracts/observations/site-scan.ts';
import { slugOf } from '#domain/ids.ts';
import { brandDomainOf } from '../scan-key.ts';
import { brokenJson } from '../parsing/json-faults.ts';
import { jsonRecords } from '../parsing/json-records.ts';
import { isObject, type JsonObject, objectAt, objectsAt } from '../parsing/json-value.ts';
import type { RefusedRecord } from '../record.ts';
import type { SideObservation, SideReader } from '../side-record.ts';

const COLLECTOR = 'technologies-json';
const UNFILED = 'Other';
const SLUG_MAX_LENGTH = 100;

/** What technology detectors write of a site: its address and `technologies`, each with `categories`. */
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

/** Detectors file a tool under several categories; the first is what it is for. */
const categoryOf = (technology: JsonObject): string => {
  const { categories } = technology;
  const [first] = Array.isArray(categories) ? (categories as readonly unknown[]) : [];
  if (typeof first === 'string' && first.trim() !== '') return first.trim();
  return (isObject(first) ? textAt(first, 'name') : null) ?? UNFILED;
};

const toolOf = (technology: JsonObject): DetectedTool => {
  const name = textAt(technology, 'name') ?? '';
  return {
    // Detectors spell slugs in ways of their own; one tool has one.
    slug: slugOf(textAt(technology, 'slug') ?? name).slice(0, SLUG_MAX_LENGTH),
    name,
    category: categoryOf(technology),
    website_url: addressOf(technology),
  };
};

/** The site that a record is about: as it says, by one address or by the first of several. */
const domainOf = (value: JsonObject): string | null => {
  const said = textAt(value, 'url') ?? textAt(value, 'domain') ?? Object.keys(objectAt(value, 'urls'))[0];
  return said === undefined ? null : brandDomainOf(said);
};

type Site = {
  readonly line: number;
  readonly raw: string;
  readonly domain: string;
  readonly tools: Map<string, DetectedTool>;
};

/**
 * Exports of technology detectors: a site, or a list of sites, each with what was detected there. Records of one
 * site that follow each other are one scan. What split-testing tools are configured to do such exports do not say,
 * so none of them counts as read.
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
        'is no site with technologies',
        'take the record out, or name the right --format',
      );
    } else if (domain === null) {
      yield refused(line, raw, 'is of a site whose address is no domain', 'say --brand DOMAIN');
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
    return refused(line, raw, `names more than ${SITE_TOOLS_MAX} technologies`, 'take out what is no tool');
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
