/** A JSON object of foreign origin, whose members may have any type. */
export type JsonObject = { readonly [key: string]: unknown };

export const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Returns the object at a member. Returns an empty object when the member is not an object. */
export const objectAt = (value: JsonObject, key: string): JsonObject => {
  const member = value[key];
  return isObject(member) ? member : {};
};

/** Returns the objects of a list at a member. Returns an empty list when the member is not a list. */
export const objectsAt = (value: JsonObject, key: string): readonly JsonObject[] => {
  const member = value[key];
  return Array.isArray(member) ? member.filter(isObject) : [];
};
