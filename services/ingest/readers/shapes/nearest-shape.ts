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

const sum = (numbers: readonly number[]): number => numbers.reduce((all, one) => all + one, 0);
const keyOf = (path: string): string => path.replaceAll('_', '').toLowerCase();

const pathsOf = (value: JsonObject): readonly string[] =>
  Object.entries(value).flatMap(([name, member]) => {
    const first: unknown = Array.isArray(member) ? member.find(isObject) : member;
    const prefix = Array.isArray(member) ? `${name}[]` : name;
    return [name, ...(isObject(first) ? Object.keys(first).map((inner) => `${prefix}.${inner}`) : [])];
  });

const compare = (found: readonly string[], shape: Shape): Match => {
  const paths = new Set(found);
  const spelling = new Map(found.map((path) => [keyOf(path), path]));
  const scoreOf = (path: string): number => (paths.has(path) ? 1 : spelling.has(keyOf(path)) ? 0.5 : 0);
  const lacking = shape.required.filter((alternatives) => !alternatives.some((path) => paths.has(path)));
  const told = shape.required
    .filter((alternatives) => !alternatives.every((path) => COMMON.has(path)))
    .map((alternatives) => Math.max(...alternatives.map(scoreOf)));
  return {
    shape,
    isNear: sum(told) >= told.length / 2,
    score: sum([...new Set([...shape.required.flat(), ...shape.optional])].map(scoreOf)),
    missing: lacking
      // A missing object is named without its members.
      .filter(([path = '']) => !lacking.some(([other = '']) => path !== other && path.startsWith(other)))
      .map((alternatives) => {
        const other = alternatives.find((path) => spelling.has(keyOf(path)));
        if (other === undefined) return alternatives.slice(0, 3).join(' or ');
        return `${other}, spelled ${spelling.get(keyOf(other))}`;
      }),
  };
};

/** `null` when none has a known member. */
const nearestOf = (paths: readonly string[], shapes: readonly Shape[]): Match | null => {
  const matches = shapes.map((shape) => compare(paths, shape)).filter(({ score }) => score > 0);
  return matches.toSorted((a, b) => b.score - a.score || a.missing.length - b.missing.length)[0] ?? null;
};

export const shortList = (names: readonly string[]): string =>
  `${names.slice(0, NAMES_SHOWN_MAX).join(', ')}${names.length > NAMES_SHOWN_MAX ? ', …' : ''}`;

/** The unknown names are shown so that a renamed member can be found. */
const inWords = (names: readonly string[], { shape, missing }: Match): string => {
  const paths = [...shape.required.flat(), ...shape.optional];
  const known = new Set(paths.flatMap((path) => [path, path.split(/[.[]/, 1)[0]]));
  const parts = Object.entries({ missing, unknown: names.filter((name) => !known.has(name)) })
    .filter(([, list]) => list.length > 0)
    .map(([is, list]) => `${is}: ${shortList(list)}`);
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
  const paths = pathsOf(value);
  const shape = JSON_SHAPES.find((one) => one.format === format);
  const own = shape && compare(paths, shape);
  const nearest = nearestOf(paths, JSON_SHAPES);
  return own === undefined || (nearest?.isNear === true && nearest.score > own.score)
    ? nearestShape(value)
    : inWords(Object.keys(value), own);
};
