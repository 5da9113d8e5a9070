import { sortBy } from 'es-toolkit/array/sortBy';
import { type Endpoint, TAGS } from './endpoint/define-endpoint.ts';
import * as endpoints from './endpoints.ts';

const SECTIONS = Object.keys(TAGS);
const METHODS: readonly string[] = ['GET', 'POST', 'PATCH', 'DELETE'] satisfies Endpoint['method'][];

/** In the order of the documentation: section, path, method. */
export const ENDPOINTS: readonly Endpoint[] = sortBy(Object.values<Endpoint>(endpoints), [
  ({ tag }) => SECTIONS.indexOf(tag),
  ({ path }) => path,
  ({ method }) => METHODS.indexOf(method),
]);
