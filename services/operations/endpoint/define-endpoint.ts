import type { z } from 'zod';
import type { ErrorType } from '#contracts/errors.ts';
import type { PageRequest } from '#contracts/ports/read-database.ts';
import type { Scope } from '#contracts/values/access/scopes.ts';
import type { Caller } from '#application/access/key-lease-cache.ts';
import type { ExecuteCommand } from './execute-command.ts';
import type { Reply } from './reply.ts';
import type { OperationDependencies } from '../dependencies/dependencies.ts';

/** Sections of the documentation, in their order. */
export const TAGS = {
  System: 'What the corpus holds and how fresh it is.',
  Brands: 'Brands and the figures observed of their ads.',
  Categories: 'What brands sell, in trees of three levels.',
  Ads: 'Ads as the library showed them.',
  Creatives: 'Archived files of ads, and what was read of them.',
  Pages: 'Landing pages that ads lead to.',
  Rankings: 'Brands compared.',
  Tools: 'What is detected on the sites of brands, and the split tests that are read there.',
  Audience: 'Brands by who visits their sites, as a traffic provider estimates.',
  Operators: 'Companies, and pages that serve several brands.',
  'Tracked brands': 'The brands a workspace follows.',
  Radar: 'What changed at tracked brands.',
  Alerts: 'Rules that tell of changes, and what they sent.',
  Briefs: 'What each week brought at tracked brands.',
  Reports: 'The radar as CSV files.',
  Collections: 'Boards of ads, brands, creatives and pages, and folders of boards.',
  'Saved items': 'What the workspace has saved for later.',
  Notes: 'What members write about things.',
  Account: 'The calling key.',
  'API keys': 'The keys of a workspace.',
} as const;
export type Tag = keyof typeof TAGS;

/** Input of a handler: validated parameters and the caller. */
export type Call<Params, Query, Body> = {
  readonly params: Params;
  readonly query: Query;
  readonly body: Body;
  readonly caller: Caller;
  readonly requestId: string;
  /** Event ids are derived from it, so that a repeated command appends its events once. */
  readonly commandId: string;
  /** True when this may be a retry: an earlier attempt may already have appended its events. */
  readonly mayRepeat: boolean;
  /** Size and start of the requested page. Only used by paged endpoints. */
  readonly page: PageRequest;
  /** Runs a command of the caller in the caller's workspace. */
  readonly execute: ExecuteCommand;
};

/** Shape of `data` and `meta`. A `paged` list has a cursor, a `whole` list has none. */
export type ReplyShape = 'record' | 'brand' | 'whole' | 'paged';

/** Errors that every endpoint can return, in addition to its own. */
export const SHARED_ERRORS = [
  'bad_request',
  'unauthorized',
  'forbidden',
  'rate_limited',
  'internal',
  'unavailable',
] as const;

/** Contract of an endpoint, without the schemas of its input. */
export type Contract = {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  /** Path with its parameters in braces, such as `/v1/brands/{brandId}`. */
  readonly path: string;
  readonly operationId: string;
  readonly tag: Tag;
  readonly scope: Scope;
  readonly summary: string;
  readonly description: string;
  readonly reply: {
    readonly status: 200 | 201;
    readonly shape: ReplyShape;
    /** Schema of `data`; for a list, of one item. */
    readonly data: z.ZodType;
    /** Example of `data`. */
    readonly example: unknown;
  };
  /** Errors in addition to `SHARED_ERRORS`. */
  readonly errors: readonly ErrorType[];
  /** True when the endpoint reads the corpus: replies carry an ETag. */
  readonly corpus: boolean;
  /**
   * True when the handler may read heavily (`db.slow`): such a read takes one of the few places of its workspace, and its request has
   * more time. False when absent.
   */
  readonly heavy?: boolean;
  /** Projections that the handler reads. A request with `min-position` waits for them. */
  readonly reads: readonly string[];
};

/** An endpoint: contract and handler. */
export type Endpoint = Contract & {
  readonly params: z.ZodObject;
  readonly query: z.ZodObject;
  readonly body: { readonly schema: z.ZodType; readonly example: unknown } | null;
  /** Examples of path parameters in the documentation. */
  readonly paramsExample: Readonly<Record<string, string>>;
  readonly handler: (call: Call<never, never, never>, dependencies: OperationDependencies) => Promise<Reply>;
};

/** Defines an endpoint. The handler gets the types of its contract. */
export const endpoint = <Params extends z.ZodObject, Query extends z.ZodObject, Body extends z.ZodType>(
  definition: Contract & {
    readonly params: Params;
    readonly query: Query;
    readonly body: { readonly schema: Body; readonly example: z.input<Body> } | null;
    readonly paramsExample: Readonly<Record<keyof z.infer<Params> & string, string>>;
    readonly handler: (
      call: Call<z.infer<Params>, z.infer<Query>, z.infer<Body>>,
      dependencies: OperationDependencies,
    ) => Promise<Reply>;
  },
): Endpoint => definition;

/** Returns all errors that an endpoint can return. */
export const errorsOf = ({ method, errors }: Endpoint): readonly ErrorType[] => [
  ...SHARED_ERRORS,
  ...errors,
  // Any POST can conflict: its idempotency key may belong to a request with another body.
  ...(method === 'POST' && !errors.includes('conflict') ? (['conflict'] as const) : []),
];
