import { BRAND_ID, WORKSPACE_ID } from './examples.ts';
import { brandParams, noParams, noQuery, workspaceParams } from './parameters.ts';

/** Parts of the contract that most endpoints of one kind share. */

export const corpusRead = {
  method: 'GET',
  params: noParams,
  paramsExample: {},
  body: null,
  errors: [],
  corpus: true,
} as const;

export const brandRead = {
  method: 'GET',
  params: brandParams,
  paramsExample: { brandId: BRAND_ID },
  body: null,
  errors: ['not_found'],
  corpus: true,
} as const;

export const workspaceRead = {
  method: 'GET',
  params: workspaceParams,
  paramsExample: { ws: WORKSPACE_ID },
  body: null,
  errors: ['not_found'],
  corpus: false,
} as const;

export const workspaceWrite = {
  method: 'POST',
  params: workspaceParams,
  paramsExample: { ws: WORKSPACE_ID },
  query: noQuery,
  errors: ['not_found', 'conflict'],
  corpus: false,
} as const;
