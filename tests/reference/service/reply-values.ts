import { BASE_URL_MARK } from '#contracts/values/base-url.ts';

/** A mark in the JSON stands for the service's base URL. */
export const parsed = (json: string): unknown =>
  JSON.parse(json.replaceAll(BASE_URL_MARK, 'https://service.example'));
export const instant = (time: string): string => new Date(time).toISOString();
/** A blank text and an absent one are the same figure (rule 4). */
export const text = (value: string | null): string | null =>
  value === null || value.trim() === '' ? null : value;
