import { type DetectedTool, SITE_TOOLS_MAX } from '#contracts/observations/site-scan.ts';
import { slugOf } from '#domain/ids.ts';
import { SCAN_MAX_MS } from '../row-times.ts';
import { brandDomainOf, ownScanTime, scanTimeOf } from '../scan-key.ts';
import { brokenJson } from '../parsing/json-faults.ts';
import { jsonRecords } from '../parsing/json-records.ts';
import { isObject, type JsonObject, objectAt, objectsAt } from '#domain/shapes/json-object.ts';
import { RecordFault, recordOrRefusal, refusal } from '../record.ts';
import { isTechnologies, placesOf } from '../shapes/record-format.ts';
import type { SideContext, SideReader, SideRecord } from '../side-record.ts';

const COLLECTOR = 'technologies-json';
const UNCATEGORIZED = 'Other';
const SLUG_MAX_LENGTH = 100;
const SITES_HELD_MAX = 10_000;

const textAt = (value: JsonObject, key: string): string | null => {
  const text = value[key];
  return typeof text === 'string' && text.trim() !== '' ? text.trim() : null;
};

const toolOf = (technology: JsonObject): DetectedTool => {
  const name = textAt(technology, 'name') ?? '';
  const website = textAt(technology, 'website') ?? '';
  const { categories } = technology;
  const [first] = Array.isArray(categories) ? (categories as readonly unknown[]) : [];
  const category = isObject(first) ? textAt(first, 'name') : textAt({ first }, 'first');
  return {
    // Normalized, because detectors spell slugs differently.
    slug: slugOf(textAt(technology, 'slug') ?? name).slice(0, SLUG_MAX_LENGTH),
    name,
    category: category ?? UNCATEGORIZED,
    website_url: /^https?:/.test(website) && URL.canParse(website) ? website : null,
  };
};

const domainOf = (value: JsonObject): string | null => {
  const address = textAt(value, 'url') ?? textAt(value, 'domain') ?? Object.keys(objectAt(value, 'urls'))[0];
  return address === undefined ? null : brandDomainOf(address);
};

type Site = {
  readonly at: { readonly line: number; readonly raw: string; readonly number: number };
  readonly domain: string;
  observedAt: string;
  readonly tools: Map<string, DetectedTool>;
};

const siteOf = (at: Site['at'], value: JsonObject, { brandDomain, times }: SideContext): Site => {
  const domain = brandDomain ?? domainOf(value);
  if (!isTechnologies(value) && !(brandDomain !== null && Array.isArray(value['technologies'])))
    throw new RecordFault('is not a site with technologies', 'remove the record, or set the right --format');
  if (domain === null) throw new RecordFault('has no valid domain in its address', 'add --brand DOMAIN');
  const tools = new Map<string, DetectedTool>();
  addTools(tools, objectsAt(value, 'technologies').map(toolOf));
  return { at, domain, observedAt: scanTimeOf(times, ownScanTime(value)), tools };
};

const addTools = (tools: Map<string, DetectedTool>, more: Iterable<DetectedTool>): void => {
  for (const tool of more) if (!tools.has(tool.slug)) tools.set(tool.slug, tool);
};

/**
 * Records of one site and time in a row are one scan. Declared complete, a file is kept to its end: a part of a site is
 * not complete.
 */
export const readTechnologiesJson: SideReader = async function* (source, context) {
  const { complete } = context;
  const apartMs = complete ? SCAN_MAX_MS : 0;
  let held = new Map<string, readonly Site[]>();
  let number = 0;
  for await (const item of jsonRecords(source, placesOf('technologies-json'))) {
    if (item.kind === 'envelope') continue;
    number += 1;
    const at = { line: item.line, raw: item.raw, number };
    const site =
      item.kind === 'broken'
        ? { ...brokenJson(item), number }
        : recordOrRefusal(at, () => siteOf(at, item.value, context));
    if ('kind' in site) {
      yield site;
      continue;
    }
    const time = Date.parse(site.observedAt);
    const known = held.get(site.domain) ?? [];
    const same = known.find(({ observedAt }) => Math.abs(Date.parse(observedAt) - time) <= apartMs);
    if (same !== undefined) {
      if (time > Date.parse(same.observedAt)) same.observedAt = site.observedAt;
      addTools(same.tools, site.tools.values());
    } else if (!complete) {
      yield* scansOf(held, complete);
      held = new Map([[site.domain, [site]]]);
    } else if (held.size >= SITES_HELD_MAX && known.length === 0) {
      const what = `exceeds the limit of ${SITES_HELD_MAX} sites of a complete file`;
      yield refusal(at, what, 'split the file, or leave --complete out');
    } else {
      held.set(site.domain, [...known, site]);
    }
  }
  yield* scansOf(held, complete);
};

/** A site of several scans is as little complete as a file of several slices. */
function* scansOf(held: ReadonlyMap<string, readonly Site[]>, complete: boolean): Generator<SideRecord> {
  for (const sites of held.values())
    for (const { at, domain, observedAt, tools } of sites) {
      const observation = {
        type: 'site.scan' as const,
        domain,
        observed_at: observedAt,
        collector: COLLECTOR,
        complete: complete && sites.length === 1,
        tools: [...tools.values()],
        split_test_tools: [],
        split_tests: [],
      };
      yield tools.size > SITE_TOOLS_MAX
        ? refusal(at, `has more than ${SITE_TOOLS_MAX} technologies`, 'remove some of them')
        : { kind: 'observation', ...at, observation };
    }
}
