import { z } from 'zod';
import { DETAIL_CODES, type DetailCode, ERRORS, type ErrorType } from '../errors.ts';
import { Count, Timestamp } from '../values/primitives.ts';
import { Freshness } from './corpus/brand.ts';

/** Specification, parts "Response envelope" and "Errors". */

const metaShape = {
  request_id: z.string().meta({ description: 'The same as the header `x-request-id`.' }),
  as_of: Timestamp.meta({ description: 'Time at which the figures hold. Quote it with them.' }),
  lag_hours: z.number().min(0).meta({ description: 'Age of `as_of` in hours.' }).optional(),
} as const;

export const Meta = z.strictObject(metaShape).meta({ id: 'Meta', description: 'Metadata of one record.' });

export const BrandMeta = z
  .strictObject({ ...metaShape, freshness: Freshness })
  .meta({ id: 'BrandMeta', description: 'Metadata of the single-brand read.' });

export const ListMeta = z
  .strictObject({ ...metaShape, count: Count.meta({ description: 'Items in this reply.' }) })
  .meta({ id: 'ListMeta', description: 'Metadata of a list without pages.' });

export const PageMeta = z
  .strictObject({
    ...metaShape,
    cursor: z.string().meta({ description: 'Cursor of the next page. Absent on the last page.' }).optional(),
    count: Count.meta({ description: 'Items on this page.' }),
  })
  .meta({ id: 'PageMeta', description: 'Metadata of one page of a list.' });

const ERROR_TYPES = [...new Set(Object.values(ERRORS).map((error) => error.type))] as [
  ErrorType,
  ...ErrorType[],
];

export const ErrorDetailCode = z.enum(Object.keys(DETAIL_CODES) as [DetailCode, ...DetailCode[]]).meta({
  id: 'ErrorDetailCode',
  description: [
    'Stable name of the fault.',
    ...Object.entries(DETAIL_CODES).map(([code, meaning]) => `- \`${code}\`: ${meaning}`),
  ].join('\n'),
});

export const ErrorDetails = z
  .strictObject({
    path: z.string().meta({ description: 'Name of the parameter, or path of the body property.' }),
    message: z.string().meta({ description: 'What is wrong, for people; its words may change.' }),
    code: ErrorDetailCode,
  })
  .meta({ id: 'ErrorDetail', description: 'One fault of the request.' });

export const ErrorBody = z
  .strictObject({
    error: z
      .strictObject({
        type: z
          .enum(ERROR_TYPES)
          .meta({ description: 'Class of the error, one for each group of statuses.' }),
        message: z.string().meta({ description: 'What went wrong, and what to do; its words may change.' }),
        status: z.int().min(400).max(599).meta({ description: 'HTTP status of the reply.' }),
        request_id: z.string().meta({ description: 'The same as the header `x-request-id`; report it.' }),
        details: z
          .array(ErrorDetails)
          .optional()
          .meta({ description: 'Single faults, the first 50; absent without any.' }),
      })
      .meta({ description: 'Why the request failed.' }),
  })
  .meta({ id: 'Error', description: 'The body of every 4xx and 5xx reply.' });
