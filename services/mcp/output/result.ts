import type { CallToolResult, ImageContent } from '@modelcontextprotocol/server';
import { lagHours, oldestOf } from '#operations/endpoint/reply.ts';
import type { JsonObject } from './observed.ts';

export type Times = { readonly as_of: string; readonly lag_hours: number };

/** Several parts are as old as the oldest. `now`: milliseconds since 1970. */
export const timesOf = (asOfs: readonly (string | null)[], now: number): Times => {
  const oldest = oldestOf(asOfs);
  return { as_of: oldest ?? new Date(now).toISOString(), lag_hours: lagHours(oldest, now) };
};

/** Sends the JSON as structured content and as text, because some clients read only one. */
export const structuredResult = (
  content: JsonObject,
  images: readonly ImageContent[] = [],
): CallToolResult => ({ structuredContent: content, ...textResult(content, images) });

export const textResult = (content: JsonObject, images: readonly ImageContent[] = []): CallToolResult => ({
  content: [{ type: 'text', text: JSON.stringify(content) }, ...images],
});

export const errorResult = (sentence: string): CallToolResult => ({
  content: [{ type: 'text', text: sentence }],
  isError: true,
});
