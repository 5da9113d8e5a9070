import { z } from 'zod';

/** Figures of a brand that can be asked for by name, each with its rule in a sentence. Money is none of them. */
export const FIGURES = {
  active_ads: {
    window: false,
    rule: 'Ads of the brand not confirmed inactive. An ad is confirmed inactive when the library says so, or when two complete scans in a row, at least 20 hours apart, cover its page and country without it.',
  },
  total_ads: { window: false, rule: 'Ads of the brand ever observed, those confirmed inactive included.' },
  new_ads: {
    window: true,
    rule: 'Ads first seen on the reliable days of the window; one found long after it began is not new.',
  },
  retired_ads: { window: true, rule: 'Ads confirmed inactive by scans of the reliable days of the window.' },
} as const satisfies Readonly<Record<string, { readonly window: boolean; readonly rule: string }>>;

export type FigureName = keyof typeof FIGURES;
export const FIGURE_NAMES = Object.keys(FIGURES) as [FigureName, ...FigureName[]];

export const FigureNameField = z
  .enum(FIGURE_NAMES)
  .meta({ id: 'FigureName', description: 'Name of a figure.' });

/** A figure, with the first and last UTC day for one of a window. */
export type Figure = { readonly name: FigureName; readonly from: string | null; readonly to: string | null };
