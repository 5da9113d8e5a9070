import type { ReplayScan } from '#domain/corpus/ad-library/replay.ts';

/** A late cause is a scan that shows and covers nothing: only the brands of the ads differ with it. */
export const causeAsScan = (
  { id, observedAt }: { readonly id: string; readonly observedAt: string },
  brandId: string,
): ReplayScan => {
  const coverage = { complete: false, pageIds: new Set<string>(), partialPages: new Set<string>() };
  return {
    ...coverage,
    scan_id: id,
    observed_at: observedAt,
    recorded: false,
    differences: [],
    totals: null,
    header: {
      ...coverage,
      scan_id: id,
      brand_id: brandId,
      scanned_for: brandId,
      scanned_at: observedAt,
      countries: [],
      collector: '',
      pages: [],
      isHistory: false,
    },
  };
};
