import type { CallToolResult, ImageContent } from '@modelcontextprotocol/server';
import { lagHours, oldestOf } from '#operations/endpoint/reply.ts';
import type { JsonObject } from './observed.ts';

export type Times = { readonly as_of: string; readonly lag_hours: number };

/**
 * Returns `as_of` and `lag_hours` as the API does. Several parts are as old as their oldest. `now`: milliseconds since
 * 1970.
 */
export const timesOf = (asOfs: readonly (string | null)[], now: number): Times => {
  const oldest = oldestOf(asOfs);
  return { as_of: oldest ?? new Date(now).toISOString(), lag_hours: lagHours(oldest, now) };
};

/**
 * Returns a result with the same JSON as structured content and as text, because some clients read only one. Images
 * follow the text.
 */
export const structuredResult = (
  content: JsonObject,
  images: readonly ImageContent[] = [],
): CallToolResult => ({ structuredContent: content, ...textResult(content, images) });

/** Returns a result with JSON as text only, for the clients that read `search` and `fetch` in this form. */
export const textResult = (content: JsonObject, images: readonly ImageContent[] = []): CallToolResult => ({
  content: [{ type: 'text', text: JSON.stringify(content) }, ...images],
});

/** Returns a failed result: one sentence that says what to do. */
export const errorResult = (sentence: string): CallToolResult => ({
  content: [{ type: 'text', text: sentence }],
  isError: true,
});
