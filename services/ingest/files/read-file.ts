import { AdWindow, type FarAds, FarAdFinder, refusedRows, type WholeAd } from './merge-ad-rows.ts';
import { type FilePlan, isRefusedFile, planFile, type ReadOptions } from './file-plan.ts';
import { type FileItem, isShortened, Progress, refusedFile, refusedItem } from './file-item.ts';
import { readObservations } from './read-observations.ts';
import { readSideFile } from './read-side-file.ts';
import { withDatesAt } from '../readers/fields/ad-fields.ts';
import { roundedId } from '../readers/fields/ad-ids.ts';
import {
  RecordFault,
  refusal,
  type AdRecord,
  type PageRecord,
  type RefusedRecord,
  type Remark,
  type VerdictRecord,
} from '../readers/record.ts';
import { openSource, type Source } from '../readers/parsing/open-source.ts';
import { RowTimes } from '../readers/row-times.ts';
import { ScanChunks } from './scan-chunks.ts';
import { NO_TIME, type ScanKey, scanKeyOf } from '../readers/scan-key.ts';
import { FirstPass, suspicionOf } from './first-pass.ts';

export const SCANS_PER_FILE_MAX = 1_000;

/**
 * Memory does not grow with the file, except for a hash of each ad. Library scans need two passes: the first chunk has
 * the scan id, which depends on all ads, and damage shows only at the end. Rows far apart or of several scans repeat
 * the first pass, because they change the scans and ads.
 */
export async function* readFile(path: string, options: ReadOptions): AsyncGenerator<FileItem> {
  const plan = await planFile(path, options);
  if ('what' in plan) {
    yield refusedFile(path, plan);
    return;
  }
  yield { kind: 'format', format: plan.format };
  switch (plan.kind) {
    case 'observations':
      yield* readObservations(path);
      return;
    case 'side':
      yield* readSideFile(path, plan);
      return;
    case 'scans':
      yield* readScans(path, plan);
  }
}

async function* readScans(path: string, plan: FilePlan): AsyncGenerator<FileItem> {
  const times = new RowTimes(plan.scansByRow);
  let rows: Rows = { far: new Map(), times };
  let firstPass = new FirstPass();
  let finder = new FarAdFinder();
  yield* runFirstPass(path, plan, firstPass, rows, finder);
  if (times.separate()) {
    firstPass = new FirstPass();
    finder = new FarAdFinder();
    yield* runFirstPass(path, plan, firstPass, rows, finder);
  }
  if (finder.far.size > 0) {
    rows = { far: finder.far, times };
    firstPass = new FirstPass();
    yield* runFirstPass(path, plan, firstPass, rows);
  }
  if (firstPass.untimed > 0 && firstPass.scans.size === 0) yield refusedFile(path, NO_TIME);
  else yield* runSecondPass(path, plan, firstPass, rows);
}

type Rows = { readonly far: FarAds; readonly times: RowTimes };

type Assembled =
  | WholeAd
  | RefusedRecord
  | Remark<'left_out'>
  | VerdictRecord
  | (PageRecord & { readonly scan: ScanKey });

/** Equal for each pass with the same `rows`. */
async function* assemble(source: Source, plan: FilePlan, rows: Rows): AsyncGenerator<Assembled> {
  const window = new AdWindow(rows.far);
  const scans = new Set<string>();
  let line = 1;
  let number = 0;
  for await (const record of plan.read(source)) {
    if (record.kind === 'verdict') {
      yield record;
      continue;
    }
    line = record.line;
    if (record.kind !== 'page') number += 1;
    if (record.kind === 'left_out') {
      yield record;
      continue;
    }
    if (record.kind === 'refused') {
      if (record.adId !== null) window.refuse(record.adId);
      yield plan.header === null ? { ...record, number } : record;
      continue;
    }
    const found = scanOf(plan, rows.times, scans, record);
    if ('kind' in found) {
      if (found.adId !== null) window.refuse(found.adId);
      yield { ...found, number };
    } else if (record.kind === 'page') {
      yield { ...record, scan: found.scan };
    } else {
      yield* window.add(found.scan, withDatesAt(record, found.rowTime));
    }
  }
  yield* window.end();
  const damage = source.damage();
  if (damage !== null) {
    const advice = 'fetch the file again; the records before the damage are kept';
    yield refusal({ line, raw: null }, damage, advice);
  }
}

const scanOf = (
  plan: FilePlan,
  times: RowTimes,
  scans: Set<string>,
  record: AdRecord | PageRecord,
): { readonly scan: ScanKey; readonly rowTime: string } | RefusedRecord => {
  const raw = record.kind === 'ad' ? record.raw : null;
  const adId = record.kind === 'ad' ? record.ad.ad_id : null;
  try {
    const row = scanKeyOf(plan.defaults, record.hints);
    const scan = times.scanOf(row);
    if (!scans.has(scan.id) && scans.size >= SCANS_PER_FILE_MAX) {
      throw new RecordFault(`exceeds the limit of ${SCANS_PER_FILE_MAX} scans per file`, 'split the file');
    }
    scans.add(scan.id);
    return { scan, rowTime: row.scannedAt };
  } catch (error) {
    if (!(error instanceof RecordFault)) throw error;
    return refusal({ line: record.line, raw, adId }, error.message, error.advice);
  }
};

async function* runFirstPass(
  path: string,
  plan: FilePlan,
  firstPass: FirstPass,
  rows: Rows,
  finder: FarAdFinder | null = null,
): AsyncGenerator<FileItem> {
  const source = await openSource(path);
  const progress = new Progress(source, 1);
  for await (const item of assemble(source, plan, rows)) {
    if (item.kind === 'whole_ad') finder?.add(item);
    if (item.kind === 'verdict') firstPass.verdict = item;
    else if (item.kind === 'refused') firstPass.addRefusal(item);
    else if (item.kind === 'left_out') firstPass.leftOut += 1;
    else if (item.kind === 'page') firstPass.addListedPage(item.scan, item.page);
    else if (!coverPage(firstPass, item)) firstPass.refused += 1;
    else firstPass.addAd(item);
    yield* progress.tick();
  }
  firstPass.damage = source.damage();
  if (isRefusedFile(path)) firstPass.damage ??= 'it has refused records of another file';
  firstPass.isUtf8 = source.isUtf8();
  firstPass.assignCountries();
}

const coverPage = (firstPass: FirstPass, { scan, ad }: WholeAd): boolean =>
  ad.page_id === null || firstPass.addPage(scan, { page_id: ad.page_id, page_name: ad.page_name });

async function* runSecondPass(
  path: string,
  plan: FilePlan,
  firstPass: FirstPass,
  rows: Rows,
): AsyncGenerator<FileItem> {
  const source = await openSource(path);
  const progress = new Progress(source, 2);
  const chunks = new ScanChunks(firstPass.chunkBytesMax());
  const verdict = firstPass.verdictOn(plan.declaredBy);
  const scans = scansToSubmit(plan, firstPass, rows.times, verdict.complete);
  for (const { key } of scans.values()) {
    if (key.brandName !== null) yield profileOf(key);
  }
  if (scans.size > 0) yield { kind: 'completeness', ...verdict };
  for await (const item of assemble(source, plan, rows)) {
    if (item.kind === 'refused') {
      yield refusedItem(path, plan, item);
    } else if (item.kind === 'left_out') {
      yield item;
    } else if (item.kind === 'whole_ad') {
      const fault = findFault(firstPass, item);
      const scan = scans.get(firstPass.scanOf(item.scan)?.key.id ?? '');
      if (fault !== null || scan === undefined) {
        const { message, advice } = fault ?? FILE_CHANGED;
        for (const row of refusedRows(item.rows, message, advice)) yield refusedItem(path, plan, row);
      } else {
        if (isShortened(item.shortened)) yield shortenedItem(item);
        yield* notesOf(item);
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

type ScanToSubmit = {
  readonly key: ScanKey;
  readonly coverage: ReturnType<FirstPass['coverage']>;
  readonly scanId: string;
};

const scansToSubmit = (
  plan: FilePlan,
  firstPass: FirstPass,
  times: RowTimes,
  complete: boolean,
): ReadonlyMap<string, ScanToSubmit> => {
  const scans = new Map<string, ScanToSubmit>();
  for (const [id, account] of firstPass.scans) {
    if (firstPass.ads(account) === 0 && !account.namesPages) continue;
    const coverage = firstPass.coverage(account, plan.collector, complete);
    const key = times.timed(account.key);
    scans.set(id, { key, coverage, scanId: firstPass.scanId({ ...account, key }, coverage) });
  }
  return scans;
};

const shortenedItem = ({ ad, rows, shortened }: WholeAd): FileItem => ({
  kind: 'shortened',
  line: rows[0]?.line ?? 1,
  adId: ad.ad_id,
  shortened,
});

function* notesOf({ ad, rows }: WholeAd): Generator<Remark<'noted'>> {
  const noted = new Map(rows.flatMap(({ line, notes = [] }) => notes.map((reason) => [reason, line])));
  for (const [reason, line] of noted) yield { kind: 'noted', line, reason, name: `ad ${ad.ad_id}` };
}

const recordsIn = (item: Assembled): number => {
  if (item.kind === 'whole_ad') return item.rows.length;
  return item.kind === 'verdict' ? 0 : 1;
};

const FILE_CHANGED = new RecordFault(
  'the file changed while it was read',
  'import it again when it is complete',
);

/** Fault that only the first pass shows, in an ad that is valid by itself. */
const findFault = (firstPass: FirstPass, { scan, ad, rows }: WholeAd): RecordFault | null => {
  const damage = firstPass.damageOf(suspicionOf(rows));
  if (damage === 'ad_id') return roundedId('the ad id', ad.ad_id);
  if (damage === 'page_id') return roundedId('the page id', ad.page_id ?? '');
  if (damage === 'encoding')
    return new RecordFault('has bytes that are not UTF-8', 'save the file as UTF-8 and import it again');
  if (coverPage(firstPass, { scan, ad } as WholeAd)) return null;
  return new RecordFault('exceeds the limit of pages per scan', 'split the file by pages');
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
