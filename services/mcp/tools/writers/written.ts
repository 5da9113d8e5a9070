import type { CallToolResult } from '@modelcontextprotocol/server';
import type { Endpoint } from '#operations/endpoint/define-endpoint.ts';
import { OBSERVED_IN_FETCH_MAX, separate } from '../../output/observed.ts';
import { structuredResult, timesOf } from '../../output/result.ts';
import type { EndpointInput, ToolContext } from '../define-tool.ts';

export const written = async (
  endpoint: Endpoint,
  input: EndpointInput,
  context: ToolContext,
): Promise<CallToolResult> => {
  const { data, asOf } = await context.call(endpoint, input);
  const options = { maxLength: OBSERVED_IN_FETCH_MAX, baseUrl: context.baseUrl, isOwn: true };
  return structuredResult({
    written: separate(data, options),
    // The time after the write, so that it is not before the record.
    ...timesOf([asOf], context.clock.now().getTime()),
    notes: [],
  });
};
