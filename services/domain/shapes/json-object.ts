export type JsonObject = { readonly [key: string]: unknown };

export const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

export const objectAt = (value: JsonObject, key: string): JsonObject => {
  const member = value[key];
  return isObject(member) ? member : {};
};

export const objectsAt = (value: JsonObject, key: string): readonly JsonObject[] => {
  const member = value[key];
  return Array.isArray(member) ? member.filter(isObject) : [];
};
