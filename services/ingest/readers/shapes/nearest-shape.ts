import { isObject, type JsonObject } from '#domain/shapes/json-object.ts';
import { PATH_SEPARATOR } from '../parsing/json-records.ts';
import { formatOfRecord, recordPaths } from './record-format.ts';
import { CSV_SHAPES, JSON_SHAPES, type Shape } from './known-shapes.ts';

const NAMES_SHOWN_MAX = 6;
/** Many kinds of records have these, so they show nothing about the shape. */
const COMMON = new Set(['id', 'type', 'url', 'domain', 'urls', 'title', 'name', 'scanned_at', 'price']);

type Match = {
  readonly shape: Shape;
  readonly score: number;
  readonly isNear: boolean;
  readonly missing: readonly string[];
};

const keyOf = (path: string): string => path.replaceAll('_', '').toLowerCase();

const pathsOf = (value: JsonObject): readonly string[] =>
  Object.entries(value).flatMap(([name, member]) => {
    const first: unknown = Array.isArray(member) ? member.find(isObject) : member;
    const prefix = Array.isArray(member) ? `${name}[]` : name;
    return [name, ...(isObject(first) ? Object.keys(first).map((inner) => `${prefix}.${inner}`) : [])];
  });

const compare = (paths: ReadonlySet<string>, shape: Shape): Match => {
  const spelling = new Map([...paths].map((path) => [keyOf(path), path]));
  const scoreOf = (path: string): number => (paths.has(path) ? 1 : spelling.has(keyOf(path)) ? 0.5 : 0);
  const all = new Set([...shape.required.flat(), ...shape.optional]);
  const lacking = shape.required.filter((alternatives) => !alternatives.some((path) => paths.has(path)));
  const inWords = (alternatives: readonly string[]): string => {
    const other = alternatives.find((path) => spelling.has(keyOf(path)));
    if (other !== undefined) return `${other}, spelled ${spelling.get(keyOf(other))}`;
    return alternatives.slice(0, 3).join(' or ');
  };
  // A missing object is named without its members.
  const isInside = (alternatives: readonly string[]): boolean =>
    lacking.some(([path = '']) => path !== alternatives[0] && (alternatives[0] ?? '').startsWith(path));
  const telling = shape.required.filter((alternatives) => !alternatives.every((path) => COMMON.has(path)));
  const told = telling.reduce((sum, alternatives) => sum + Math.max(...alternatives.map(scoreOf)), 0);
  return {
    shape,
    isNear: told >= telling.length / 2,
    score: [...all].reduce((sum, path) => sum + scoreOf(path), 0),
    missing: lacking.filter((alternatives) => !isInside(alternatives)).map(inWords),
  };
};

const nearestOf = (paths: readonly string[], shapes: readonly Shape[]): Match | null => {
  const names = new Set(paths);
  const matches = shapes.map((shape) => compare(names, shape)).filter(({ score }) => score > 0);
  return matches.reduce<Match | null>(
    (best, match) =>
      best === null ||
      match.score > best.score ||
      (match.score === best.score && match.missing.length < best.missing.length)
        ? match
        : best,
    null,
  );
};

export const shortList = (names: readonly string[]): string =>
  `${names.slice(0, NAMES_SHOWN_MAX).join(', ')}${names.length > NAMES_SHOWN_MAX ? ', …' : ''}`;

/** Shown so that a renamed member can be found. */
const unknownNames = (names: readonly string[], { required, optional }: Shape): readonly string[] => {
  const known = new Set(
    [...required.flat(), ...optional].flatMap((path) => [path, path.split(/[.[]/, 1)[0]]),
  );
  return names.filter((name) => !known.has(name));
};

const inWords = (names: readonly string[], { shape, missing }: Match): string => {
  const unknown = unknownNames(names, shape);
  const parts = [
    ...(missing.length === 0 ? [] : [`missing: ${shortList(missing)}`]),
    ...(unknown.length === 0 ? [] : [`unknown: ${shortList(unknown)}`]),
  ];
  return `the nearest known shape is ${shape.format}${parts.length === 0 ? '' : ` (${parts.join('; ')})`}`;
};

export const nearestShape = (value: JsonObject): string => {
  const nested = recordPaths(value, (one) => formatOfRecord(one) !== null);
  if (nested.length > 0)
    return `it has records of another format under ${shortList(nested.map((path) => path.replaceAll(PATH_SEPARATOR, '.')))}`;
  const match = nearestOf(pathsOf(value), JSON_SHAPES);
  return match?.isNear === true
    ? inWords(Object.keys(value), match)
    : `no known shape is near (found: ${shortList(Object.keys(value))})`;
};

export const nearestHeader = (columns: readonly string[]): string => {
  const match = nearestOf(columns, CSV_SHAPES);
  return match?.isNear === true ? inWords(columns, match) : 'no known shape is near';
};

export const differenceFrom = (value: JsonObject, format: string): string => {
  const shape = JSON_SHAPES.find((one) => one.format === format);
  const nearest = nearestOf(pathsOf(value), JSON_SHAPES);
  if (shape === undefined) return nearestShape(value);
  const own = compare(new Set(pathsOf(value)), shape);
  return nearest !== null && nearest.isNear && nearest.score > own.score
    ? nearestShape(value)
    : inWords(Object.keys(value), own);
};
