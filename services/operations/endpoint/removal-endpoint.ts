import type { z } from 'zod';
import type { OperationDependencies } from '../dependencies/dependencies.ts';
import { type Call, type Contract, type Endpoint, endpoint } from './define-endpoint.ts';
import { noQuery } from './parameters.ts';

/** Reply schema of a removal: the fields that identify the target, and `removed`. */
type RemovedSchema = z.ZodType<{ removed: boolean }>;

/** Result of a removal. */
type Removal<Data extends RemovedSchema> = {
  /** The fields that identify the target, in the order of the reply. */
  readonly target: Omit<z.infer<Data>, 'removed'>;
  /** False when there was nothing to remove. */
  readonly removed: boolean;
  /** Log position of the removal. `null` when nothing was appended. */
  readonly position: bigint | null;
};

/**
 * Defines an endpoint that removes one thing from a workspace. The body is an empty object. The reply repeats the
 * fields that identify the target, and says whether the request removed it.
 */
export const removalEndpoint = <Params extends z.ZodObject, Data extends RemovedSchema>({
  body,
  reply,
  handler,
  ...contract
}: Pick<Contract, 'path' | 'operationId' | 'tag' | 'scope' | 'summary' | 'description'> & {
  readonly params: Params;
  /** Schema of the empty body. */
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
