/** The parts of a document that OpenAPI 3.0 lacks, in the words of 3.0: generators of that time read them. */

type Json = { [name: string]: unknown };

const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Keywords that 3.0 does not have, and that only narrow a value. */
const DROPPED = new Set(['propertyNames', 'examples', 'contentEncoding', 'contentMediaType', '$schema']);

/** Generators of 3.0 read one form of a union: the first, which is that of the fewest properties here. */
const withoutUnion = (schema: Json): Json => {
  const forms = (schema['anyOf'] ?? schema['oneOf']) as readonly Json[] | undefined;
  if (forms === undefined) return schema;
  const { anyOf: _any, oneOf: _one, ...rest } = schema;
  const [form = {}] = forms.filter(({ type }) => type !== 'null');
  const nullable = forms.some(({ type }) => type === 'null') ? { nullable: true } : {};
  return '$ref' in form ? { ...rest, ...nullable, allOf: [form] } : { ...form, ...rest, ...nullable };
};

const withoutTypeList = (schema: Json): Json => {
  if (!Array.isArray(schema['type'])) return schema;
  const types = schema['type'] as readonly string[];
  return { ...schema, type: types.find((type) => type !== 'null'), nullable: types.includes('null') };
};

const schemaIn30 = (schema: Json): Json => {
  const { const: value, $ref, ...rest } = withoutTypeList(withoutUnion(schema));
  const named = $ref === undefined ? {} : Object.keys(rest).length === 0 ? { $ref } : { allOf: [{ $ref }] };
  return { ...rest, ...named, ...(value === undefined ? {} : { enum: [value] }) };
};

const isSchema = (value: Json): boolean =>
  ['type', 'anyOf', 'oneOf', '$ref', 'const', 'allOf', 'properties'].some((name) => name in value);

/** `name` is that of the property: the names in `properties` and in `example` are no keywords. */
const convert = (value: unknown, name: string): unknown => {
  if (Array.isArray(value)) return value.map((one) => convert(one, ''));
  if (!isObject(value) || name === 'example') return value;
  const read = name === 'properties' || !isSchema(value) ? value : schemaIn30(value);
  return Object.fromEntries(
    Object.entries(read)
      // The generator would write the default `null` as a text.
      .filter(
        ([key, one]) => name === 'properties' || !(DROPPED.has(key) || (key === 'default' && one === null)),
      )
      .map(([key, one]) => [key, convert(one, key)]),
  );
};

export const openApi30Of = (document: Json): Json => {
  const { openapi: _, webhooks: _webhooks, info, ...parts } = document;
  const { title, version } = info as Json;
  return { openapi: '3.0.3', info: { title, version }, ...(convert(parts, '') as Json) };
};
