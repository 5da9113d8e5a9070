import { type DetectedTool, SITE_TOOLS_MAX } from '#contracts/observations/site-scan.ts';
import { slugOf } from '#domain/ids.ts';
import { brandDomainOf } from '../scan-key.ts';
import { brokenJson } from '../parsing/json-faults.ts';
import { jsonRecords } from '../parsing/json-records.ts';
import { isObject, type JsonObject, objectAt, objectsAt } from '#domain/shapes/json-object.ts';
import type { RefusedRecord } from '../record.ts';
import { isTechnologies, placesOf } from '../shapes/record-format.ts';
import { type SideObservation, type SideReader, timeOrRefusal } from '../side-record.ts';

const COLLECTOR = 'technologies-json';
/** Category of a technology without one. */
const UNCATEGORIZED = 'Other';
const SLUG_MAX_LENGTH = 100;

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

/** Position of a record in the file. */
type Position = { readonly line: number; readonly raw: string; readonly number: number };

type Site = {
  readonly at: Position;
  readonly domain: string;
  readonly observedAt: string;
  readonly tools: Map<string, DetectedTool>;
};

/**
 * Reads exports of technology detectors: one site or a list of sites, each with its detected technologies. Consecutive
 * records of one site and time are one scan. Such exports have no configuration of split-testing tools, so the scan lists no
 * split tests and no tool whose tests were read.
 */
export const readTechnologiesJson: SideReader = async function* (source, context) {
  const { brandDomain, complete } = context;
  let site = null as Site | null;
  let number = 0;
  for await (const item of jsonRecords(source, placesOf('technologies-json'))) {
    if (item.kind === 'envelope') continue;
    number += 1;
    if (item.kind === 'broken') {
      yield { ...brokenJson(item), number };
      continue;
    }
    const { line, raw, value } = item;
    const at = { line, raw, number };
    const domain = brandDomain ?? domainOf(value);
    if (!isTechnologies(value) && !(brandDomain !== null && Array.isArray(value['technologies']))) {
      yield refused(at, 'is not a site with technologies', 'remove the record, or set the right --format');
    } else if (domain === null) {
      yield refused(at, 'has no valid domain in its address', 'add --brand DOMAIN');
    } else {
      const observedAt = timeOrRefusal(context, at, value);
      if (typeof observedAt !== 'string') {
        yield observedAt;
        continue;
      }
      const isSame = site?.domain === domain && site.observedAt === observedAt;
      if (site !== null && !isSame) yield scanOf(site, complete);
      site = site !== null && isSame ? site : { at, domain, observedAt, tools: new Map() };
      for (const technology of objectsAt(value, 'technologies')) {
        const tool = toolOf(technology);
        if (!site.tools.has(tool.slug)) site.tools.set(tool.slug, tool);
      }
    }
  }
  if (site !== null) yield scanOf(site, complete);
};

const scanOf = (site: Site, complete: boolean): SideObservation | RefusedRecord => {
  const { at, domain, observedAt, tools } = site;
  if (tools.size > SITE_TOOLS_MAX)
    return refused(at, `has more than ${SITE_TOOLS_MAX} technologies`, 'remove some of them');
  return {
    kind: 'observation',
    ...at,
    observation: {
      type: 'site.scan',
      domain,
      observed_at: observedAt,
      collector: COLLECTOR,
      complete,
      tools: [...tools.values()],
      split_test_tools: [],
      split_tests: [],
    },
  };
};

const refused = (at: Position, what: string, advice: string): RefusedRecord => ({
  kind: 'refused',
  ...at,
  what,
  advice,
  adId: null,
});
