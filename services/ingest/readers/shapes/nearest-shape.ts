import { isObject, type JsonObject } from '#domain/shapes/json-object.ts';
import { PATH_SEPARATOR } from '../parsing/json-item.ts';
import { formatOfRecord, recordPaths } from './record-format.ts';
import { CSV_SHAPES, JSON_SHAPES, type Shape } from './known-shapes.ts';

/** Maximum names in a message. */
const NAMES_SHOWN_MAX = 6;
/** Members that records of many kinds have. They show nothing about the shape. */
const COMMON = new Set(['id', 'type', 'url', 'domain', 'urls', 'title', 'name', 'scanned_at', 'price']);

/** Comparison of a record with a shape. */
type Match = {
  readonly shape: Shape;
  /** Number of the shape's paths that the record has. A path in another spelling counts half. */
  readonly score: number;
  /** True when the record has at least half of the required paths, without `COMMON` ones. */
  readonly isNear: boolean;
  /** Required paths that the record lacks, in words. */
  readonly missing: readonly string[];
};

/** The spelling-independent form of a path: `adArchiveID` and `ad_archive_id` are equal. */
const keyOf = (path: string): string => path.replaceAll('_', '').toLowerCase();

/** Returns the paths of an object's members down to the members of members, and of the first object of each list. */
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

/** Joins names for a message. Leaves out all after the first few. */
export const shortList = (names: readonly string[]): string =>
  `${names.slice(0, NAMES_SHOWN_MAX).join(', ')}${names.length > NAMES_SHOWN_MAX ? ', …' : ''}`;

/** Returns the names of a record that the shape does not have, so that a renamed member can be found. */
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

/** Describes the known shape that a record comes nearest to, and in which members it differs. */
export const nearestShape = (value: JsonObject): string => {
  const nested = recordPaths(value, (one) => formatOfRecord(one) !== null);
  if (nested.length > 0)
    return `it has records of another format under ${shortList(nested.map((path) => path.replaceAll(PATH_SEPARATOR, '.')))}`;
  const match = nearestOf(pathsOf(value), JSON_SHAPES);
  return match?.isNear === true
    ? inWords(Object.keys(value), match)
    : `no known shape is near (found: ${shortList(Object.keys(value))})`;
};

/** Describes the known shape that a CSV header comes nearest to, and in which columns it differs. */
export const nearestHeader = (columns: readonly string[]): string => {
  const match = nearestOf(columns, CSV_SHAPES);
  return match?.isNear === true ? inWords(columns, match) : 'no known shape is near';
};

/** Describes how a record differs from the shape of its file's format. */
export const differenceFrom = (value: JsonObject, format: string): string => {
  const shape = JSON_SHAPES.find((one) => one.format === format);
  const nearest = nearestOf(pathsOf(value), JSON_SHAPES);
  if (shape === undefined) return nearestShape(value);
  const own = compare(new Set(pathsOf(value)), shape);
  return nearest !== null && nearest.isNear && nearest.score > own.score
    ? nearestShape(value)
    : inWords(Object.keys(value), own);
};
