import type { JsonEntry } from './json-records.ts';
import { isObject, type JsonObject } from '#domain/shapes/json-object.ts';
import { differenceFrom } from '../shapes/nearest-shape.ts';
import { RecordFault, refusal, type RefusedRecord } from '../record.ts';

export const brokenJson = ({ line, raw, what }: JsonEntry & { kind: 'broken' }): RefusedRecord => {
  const at = { line, raw: raw === '' ? null : raw };
  if (/^[[{\s]*'/.test(raw))
    return refusal(
      at,
      "is a Python value and not JSON: it has ' around its names",
      'write it with json.dumps',
    );
  return refusal(
    at,
    what,
    raw === '' ? 'fetch or export the file again' : 'fix the record and import it again',
  );
};

const MESSAGE_MAX_CHARACTERS = 300;
const ERROR_NAME = /^(?:errors?|error_?(?:message|msg|description)|exception|fault)$/i;
const MESSAGE_NAME = /^(?:message|msg|detail|details|reason|title|(?:error_?)?description|error_?message)$/i;
const STATUS_NAME = /^(?:status|status_?code|http_?(?:status|code)|success|ok|result)$/i;
const CODE_NAME = /^(?:code|error_?code|documentation_?url|(?:request|trace)_?id)$/i;
const FIRST_ERROR_STATUS = 400;

const isFailure = ([name, value]: readonly [string, unknown]): boolean =>
  CODE_NAME.test(name) ||
  (STATUS_NAME.test(name) &&
    (value === false || Number(value) >= FIRST_ERROR_STATUS || /^(?:err|fail)/i.test(String(value))));

const messageIn = (value: unknown): string | null => {
  if (typeof value === 'string') return value.trim() === '' ? null : value.trim();
  if (Array.isArray(value)) return value.map(messageIn).find((text) => text !== null) ?? null;
  if (!isObject(value)) return null;
  const named = Object.entries(value).filter(([name]) => MESSAGE_NAME.test(name) || ERROR_NAME.test(name));
  return named.map(([, member]) => messageIn(member)).find((text) => text !== null) ?? null;
};

const isSet = (value: unknown): boolean =>
  isObject(value) || Array.isArray(value) ? Object.keys(value).length > 0 : Boolean(value);

export const errorReplyOf = (value: JsonObject): string | null => {
  const names = Object.keys(value);
  const isError =
    names.some((name) => ERROR_NAME.test(name) && isSet(value[name])) ||
    (names.some((name) => MESSAGE_NAME.test(name) && typeof value[name] === 'string') &&
      (names.length === 1 || Object.entries(value).some(isFailure)));
  const message = messageIn(value)?.slice(0, MESSAGE_MAX_CHARACTERS);
  return isError
    ? `is an error reply of an API without records${message === undefined ? '' : `: ${message}`}`
    : null;
};

export const notAnAd = (record: ReadRecord, format: string): RefusedRecord => {
  const what = errorReplyOf(record.value);
  if (what === null) return unknownShape(record, format);
  return refusal({ line: record.line, raw: record.raw }, what, 'fetch this page again');
};

/** `number`: `null` for a row. */
export type ReadRecord = Pick<JsonEntry & { kind: 'record' }, 'line' | 'raw' | 'value'> & {
  readonly number: number | null;
};

export const unknownShape = ({ line, number, raw, value }: ReadRecord, format: string): RefusedRecord => {
  const { message, advice } = shapeFault(number, differenceFrom(value, format));
  return refusal({ line, raw }, message, advice);
};

export const shapeFault = (number: number | null, difference: string): RecordFault =>
  new RecordFault(
    `${number === null ? '' : `record ${number} `}has an unknown shape; ${difference}`,
    UNKNOWN_SHAPE_ADVICE,
  );

export const UNKNOWN_SHAPE_ADVICE =
  'export it in a known shape (see services/ingest/FORMATS.md), or describe its members with --mapping FILE';
