import { z } from 'zod';
import { ERRORS, type ErrorType } from '../errors.ts';
import { Count, Timestamp } from '../values/primitives.ts';
import { Freshness } from './corpus/brand.ts';

/** Specification, parts "Response envelope" and "Errors". */

const metaShape = {
  request_id: z.string().meta({ description: 'The same as the header `x-request-id`.' }),
  as_of: Timestamp.meta({ description: 'Time at which the figures hold. Quote it with them.' }),
  lag_hours: z.number().min(0).meta({ description: 'Age of `as_of` in hours.' }).optional(),
} as const;

export const Meta = z
  .strictObject(metaShape)
  .meta({ id: 'Meta', description: 'Metadata of one record, or of a list without pages.' });

export const BrandMeta = z
  .strictObject({ ...metaShape, freshness: Freshness })
  .meta({ id: 'BrandMeta', description: 'About the single-brand read.' });

export const ListMeta = z
  .strictObject({ ...metaShape, count: Count.meta({ description: 'Items in this reply.' }) })
  .meta({ id: 'ListMeta' });

export const PageMeta = z
  .strictObject({
    ...metaShape,
    cursor: z.string().meta({ description: 'Cursor of the next page. Absent on the last page.' }).optional(),
    count: Count.meta({ description: 'Items on this page.' }),
  })
  .meta({ id: 'PageMeta' });

const ERROR_TYPES = [...new Set(Object.values(ERRORS).map((error) => error.type))] as [
  ErrorType,
  ...ErrorType[],
];

export const ErrorDetails = z
  .strictObject({
    path: z.string().meta({ description: 'Name of the parameter, or path of the body property.' }),
    message: z.string(),
    code: z.string().meta({ description: 'Stable name of the fault.' }),
  })
  .meta({ id: 'ErrorDetail' });

export const ErrorBody = z
  .strictObject({
    error: z.strictObject({
      type: z.enum(ERROR_TYPES),
      message: z.string().meta({ description: 'What to do.' }),
      status: z.int().min(400).max(599),
      request_id: z.string().meta({ description: 'The same as the header `x-request-id`; report it.' }),
      details: z.array(ErrorDetails).optional(),
    }),
  })
  .meta({ id: 'Error', description: 'The body of every 4xx and 5xx reply.' });
