import { type DetectedTool, SITE_TOOLS_MAX } from '#contracts/observations/site-scan.ts';
import { slugOf } from '#domain/ids.ts';
import { SCAN_MAX_MS } from '../row-times.ts';
import { brandDomainOf } from '../scan-key.ts';
import { brokenJson } from '../parsing/json-faults.ts';
import { jsonRecords } from '../parsing/json-records.ts';
import { isObject, type JsonObject, objectAt, objectsAt } from '#domain/shapes/json-object.ts';
import { refusal, type RefusedRecord } from '../record.ts';
import { isTechnologies, placesOf } from '../shapes/record-format.ts';
import { type SideObservation, type SideReader, timeOrRefusal } from '../side-record.ts';

const COLLECTOR = 'technologies-json';
const UNCATEGORIZED = 'Other';
const SLUG_MAX_LENGTH = 100;
const SITES_HELD_MAX = 10_000;

const textAt = (value: JsonObject, key: string): string | null => {
  const text = value[key];
  return typeof text === 'string' && text.trim() !== '' ? text.trim() : null;
};

const addressOf = (technology: JsonObject): string | null => {
  const address = textAt(technology, 'website');
  return address !== null && /^https?:/.test(address) && URL.canParse(address) ? address : null;
};

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

const domainOf = (value: JsonObject): string | null => {
  const address = textAt(value, 'url') ?? textAt(value, 'domain') ?? Object.keys(objectAt(value, 'urls'))[0];
  return address === undefined ? null : brandDomainOf(address);
};

type Position = { readonly line: number; readonly raw: string; readonly number: number };

type Site = {
  readonly at: Position;
  readonly domain: string;
  observedAt: string;
  readonly tools: Map<string, DetectedTool>;
};

/**
 * Records of one site and time in a row are one scan. Declared complete, a file is kept to its end: a part of a site is
 * not complete.
 */
export const readTechnologiesJson: SideReader = async function* (source, context) {
  const { brandDomain, complete } = context;
  const apartMs = complete ? SCAN_MAX_MS : 0;
  let held = new Map<string, readonly Site[]>();
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
      yield refusal(at, 'is not a site with technologies', 'remove the record, or set the right --format');
    } else if (domain === null) {
      yield refusal(at, 'has no valid domain in its address', 'add --brand DOMAIN');
    } else {
      const observedAt = timeOrRefusal(context, at, value);
      if (typeof observedAt !== 'string') {
        yield observedAt;
        continue;
      }
      const time = Date.parse(observedAt);
      const known = held.get(domain) ?? [];
      const same = known.find((one) => Math.abs(Date.parse(one.observedAt) - time) <= apartMs);
      if (same === undefined && !complete) {
        yield* scansOf(held, complete);
        held = new Map();
      }
      if (complete && held.size >= SITES_HELD_MAX && known.length === 0) {
        const what = `exceeds the limit of ${SITES_HELD_MAX} sites of a complete file`;
        yield refusal(at, what, 'split the file, or leave --complete out');
        continue;
      }
      const site = same ?? { at, domain, observedAt, tools: new Map<string, DetectedTool>() };
      if (time > Date.parse(site.observedAt)) site.observedAt = observedAt;
      if (same === undefined) held.set(domain, [...known, site]);
      for (const technology of objectsAt(value, 'technologies')) {
        const tool = toolOf(technology);
        if (!site.tools.has(tool.slug)) site.tools.set(tool.slug, tool);
      }
    }
  }
  yield* scansOf(held, complete);
};

/** A site of several scans is as little complete as a file of several slices. */
function* scansOf(
  held: ReadonlyMap<string, readonly Site[]>,
  complete: boolean,
): Generator<SideObservation | RefusedRecord> {
  for (const sites of held.values())
    for (const site of sites) yield scanOf(site, complete && sites.length === 1);
}

const scanOf = (site: Site, complete: boolean): SideObservation | RefusedRecord => {
  const { at, domain, observedAt, tools } = site;
  if (tools.size > SITE_TOOLS_MAX)
    return refusal(at, `has more than ${SITE_TOOLS_MAX} technologies`, 'remove some of them');
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
