import { AdWindow, refusedRows, type WholeAd } from './merge-ad-rows.ts';
import { type FilePlan, isRefusedFile, planFile, type ReadOptions } from './file-plan.ts';
import { type FileItem, Progress, refusedItem } from './file-item.ts';
import { readObservations } from './read-observations.ts';
import { readSideFile } from './read-side-file.ts';
import { damagedBySpreadsheet } from '../readers/ad-fields.ts';
import {
  RecordFault,
  type AdRecord,
  type PageRecord,
  type RefusedRecord,
  type VerdictRecord,
} from '../readers/record.ts';
import { openSource, type Source } from '../readers/parsing/open-source.ts';
import { ScanChunks } from './scan-chunks.ts';
import { type ScanKey, scanKeyOf } from '../readers/scan-key.ts';
import { Survey, suspicionOf } from './first-pass.ts';

/** Scans of one file; more are a file that should be split. */
export const SCANS_PER_FILE_MAX = 1_000;

/**
 * Reads a file of library scans into observations, with memory that does not grow with the file.
 *
 * It reads twice. A scan's id depends on all its ads and stands on its first chunk, and whether ids went
 * through a spreadsheet, or anything is missing, shows only at the end: so the first reading surveys, and
 * the second hands in.
 */
export async function* readFile(path: string, options: ReadOptions): AsyncGenerator<FileItem> {
  const plan = await planFile(path, options);
  if (plan === 'observations') {
    yield* readObservations(path);
    return;
  }
  if ('side' in plan) {
    yield* readSideFile(path, plan);
    return;
  }
  if ('what' in plan) {
    yield {
      kind: 'refused',
      file: path,
      line: 1,
      what: plan.what,
      advice: plan.advice,
      raw: null,
      header: null,
    };
    return;
  }
  const survey = new Survey();
  yield* surveyed(path, plan, survey);
  yield* handedIn(path, plan, survey);
}

type Assembled = WholeAd | RefusedRecord | VerdictRecord | (PageRecord & { readonly scan: ScanKey });

/** The ads of a file, whole, with their scans; the same in both readings. */
async function* assembled(source: Source, plan: FilePlan): AsyncGenerator<Assembled> {
  const window = new AdWindow();
  const scans = new Set<string>();
  let line = 1;
  for await (const record of plan.read(source)) {
    if (record.kind === 'verdict') {
      yield record;
      continue;
    }
    line = record.line;
    if (record.kind === 'refused') {
      if (record.adId !== null) window.refuse(record.adId);
      yield record;
      continue;
    }
    const scan = scanOf(plan, scans, record);
    if ('kind' in scan) {
      if (scan.adId !== null) window.refuse(scan.adId);
      yield scan;
    } else if (record.kind === 'page') {
      yield { ...record, scan };
    } else {
      yield* window.add(scan, record);
    }
  }
  yield* window.end();
  const damage = source.damage();
  if (damage !== null) {
    yield {
      kind: 'refused',
      line,
      what: damage,
      advice: 'fetch the file again; what was read before is kept',
      raw: null,
      adId: null,
    };
  }
}

const scanOf = (
  plan: FilePlan,
  scans: Set<string>,
  record: AdRecord | PageRecord,
): ScanKey | RefusedRecord => {
  const raw = record.kind === 'ad' ? record.raw : null;
  const adId = record.kind === 'ad' ? record.ad.ad_id : null;
  try {
    const scan = scanKeyOf(plan.defaults, record.hints);
    if (!scans.has(scan.id) && scans.size >= SCANS_PER_FILE_MAX) {
      throw new RecordFault(
        `belongs to one scan more than the ${SCANS_PER_FILE_MAX} a file may hold`,
        'split the file',
      );
    }
    scans.add(scan.id);
    return scan;
  } catch (error) {
    if (!(error instanceof RecordFault)) throw error;
    return { kind: 'refused', line: record.line, what: error.message, advice: error.advice, raw, adId };
  }
};

async function* surveyed(path: string, plan: FilePlan, survey: Survey): AsyncGenerator<FileItem> {
  const source = await openSource(path);
  const progress = new Progress(source, 0);
  for await (const item of assembled(source, plan)) {
    if (item.kind === 'verdict') survey.verdict = item.complete;
    else if (item.kind === 'refused') survey.refused += 1;
    else if (item.kind === 'page') survey.names(item.scan, item.page);
    else if (!coversPageOf(survey, item)) survey.refused += 1;
    else survey.counts(item);
    yield* progress.tick();
  }
  survey.damaged = source.damage() !== null || isRefusedFile(path);
  survey.isUtf8 = source.isUtf8();
  survey.settle();
}

const coversPageOf = (survey: Survey, { scan, ad }: WholeAd): boolean =>
  ad.page_id === null || survey.covers(scan, { page_id: ad.page_id, page_name: ad.page_name });

async function* handedIn(path: string, plan: FilePlan, survey: Survey): AsyncGenerator<FileItem> {
  const source = await openSource(path);
  const progress = new Progress(source, source.bytesTotal);
  const chunks = new ScanChunks();
  const scans = scansOf(plan, survey);
  for (const { key } of scans.values()) {
    if (key.brandName !== null) yield profileOf(key);
  }
  for await (const item of assembled(source, plan)) {
    if (item.kind === 'refused') {
      yield refusedItem(path, plan, item);
    } else if (item.kind === 'whole_ad') {
      const fault = faultOf(survey, item);
      const scan = scans.get(survey.scanOf(item.scan)?.key.id ?? '');
      if (fault !== null || scan === undefined) {
        const { message, advice } = fault ?? CHANGED;
        for (const row of refusedRows(item.rows, message, advice)) yield refusedItem(path, plan, row);
      } else {
        for (const observation of chunks.add(scan.scanId, scan.key, item.ad)) {
          yield { kind: 'observation', observation };
        }
      }
    }
    yield* progress.tick(recordsIn(item));
  }
  for (const observation of chunks.end()) yield { kind: 'observation', observation };
  for (const { key, coverage, scanId } of scans.values()) {
    yield {
      kind: 'observation',
      observation: {
        type: 'ad_library.scan_end',
        scan_id: scanId,
        brand_domain: key.brandDomain,
        scanned_at: key.scannedAt,
        chunks: chunks.chunksOf(key),
        coverage,
      },
    };
  }
  yield* progress.end();
}

type HandedInScan = {
  readonly key: ScanKey;
  readonly coverage: ReturnType<Survey['coverage']>;
  readonly scanId: string;
};

/** The scans of which something is left to say once what is damaged is taken out. */
const scansOf = (plan: FilePlan, survey: Survey): ReadonlyMap<string, HandedInScan> => {
  const scans = new Map<string, HandedInScan>();
  for (const [id, account] of survey.scans) {
    if (survey.ads(account) === 0 && !account.namesPages) continue;
    const coverage = survey.coverage(account, plan.collector, plan.claimsComplete);
    scans.set(id, { key: account.key, coverage, scanId: survey.scanId(account, coverage) });
  }
  return scans;
};

const recordsIn = (item: Assembled): number => {
  if (item.kind === 'whole_ad') return item.rows.length;
  return item.kind === 'verdict' ? 0 : 1;
};

const CHANGED = new RecordFault('the file changed while it was read', 'feed it again when it is finished');

/** What the survey found wrong with an ad that reads well by itself. */
const faultOf = (survey: Survey, { scan, ad, rows }: WholeAd): RecordFault | null => {
  const damage = survey.condemns(suspicionOf(rows));
  if (damage === 'ad_id') return damagedBySpreadsheet('the ad id', ad.ad_id);
  if (damage === 'page_id') return damagedBySpreadsheet('the page id', ad.page_id ?? '');
  if (damage === 'encoding')
    return new RecordFault('holds bytes that are not UTF-8', 'save the file as UTF-8 and feed it again');
  if (coversPageOf(survey, { scan, ad } as WholeAd)) return null;
  return new RecordFault('is of one page more than a scan may cover', 'split the file by pages');
};

const profileOf = (key: ScanKey): FileItem => ({
  kind: 'observation',
  observation: {
    type: 'brand.profile',
    domain: key.brandDomain,
    observed_at: key.scannedAt,
    name: key.brandName ?? key.brandDomain,
    description: null,
    url: null,
    logo_url: null,
    country: null,
    category_path: null,
    is_public: null,
    indexable: null,
  },
});
