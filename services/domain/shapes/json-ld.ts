import { isObject, type JsonObject } from './json-object.ts';

const DEPTH_MAX = 4;
const ENTITIES_MAX = 500;

export const jsonLdEntities = (blocks: readonly unknown[]): readonly JsonObject[] => {
  const found: JsonObject[] = [];
  const visit = (value: unknown, depth: number): void => {
    if (depth > DEPTH_MAX || found.length >= ENTITIES_MAX) return;
    if (Array.isArray(value)) for (const item of value) visit(item, depth + 1);
    if (!isObject(value)) return;
    found.push(value);
    visit(value['@graph'], depth + 1);
  };
  visit(blocks, 0);
  return found;
};

/** Without the address of their vocabulary, such as `Organization`. */
export const typesOf = (entity: JsonObject): readonly string[] => {
  const types = entity['@type'];
  return (Array.isArray(types) ? types : [types]).flatMap((type) =>
    typeof type === 'string' ? [type.replace(/^.*[/#:]/, '')] : [],
  );
};

/** Also the first text of a list, with single spaces; `null` when there is none. */
export const textOf = (value: unknown): string | null => {
  const first: unknown = Array.isArray(value) ? value.find((item) => typeof item === 'string') : value;
  const text = typeof first === 'string' ? first.replace(/\s+/g, ' ').trim() : '';
  return text === '' ? null : text;
};
