import type { z } from 'zod';
import type { OperationDependencies } from '../dependencies/dependencies.ts';
import { type Call, type Contract, type Endpoint, endpoint } from './define-endpoint.ts';
import { noQuery } from './parameters.ts';

type RemovedSchema = z.ZodType<{ removed: boolean }>;

type Removal<Data extends RemovedSchema> = {
  readonly target: Omit<z.infer<Data>, 'removed'>;
  readonly removed: boolean;
  /** `null` when nothing was appended. */
  readonly position: bigint | null;
};

/** The body is an empty object. The reply repeats the target and says whether the request removed it. */
export const removalEndpoint = <Params extends z.ZodObject, Data extends RemovedSchema>({
  body,
  reply,
  handler,
  ...contract
}: Pick<Contract, 'path' | 'operationId' | 'tag' | 'scope' | 'summary' | 'description'> & {
  readonly params: Params;
  readonly body: z.ZodObject;
  readonly paramsExample: Readonly<Record<keyof z.infer<Params> & string, string>>;
  readonly reply: { readonly data: Data; readonly example: Omit<z.infer<Data>, 'removed'> };
  readonly handler: (
    call: Call<z.infer<Params>, unknown, unknown>,
    dependencies: OperationDependencies,
  ) => Promise<Removal<Data>>;
}): Endpoint =>
  endpoint({
    ...contract,
    method: 'DELETE',
    query: noQuery,
    body: { schema: body, example: {} },
    reply: {
      status: 200,
      shape: 'record',
      data: reply.data,
      example: { ...reply.example, removed: true },
    },
    errors: ['not_found', 'conflict'],
    corpus: false,
    reads: [],
    handler: async (call, dependencies) => {
      const { target, removed, position } = await handler(call, dependencies);
      return { data: JSON.stringify({ ...target, removed }), asOf: null, position };
    },
  });
