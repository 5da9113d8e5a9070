import type { z } from 'zod';
import type { ErrorType } from '#contracts/errors.ts';
import type { PageRequest } from '#contracts/ports/read-database.ts';
import type { Scope } from '#contracts/values/scopes.ts';
import type { Caller } from '#application/access/key-lease-cache.ts';
import type { ExecuteCommand } from './execute-command.ts';
import type { Reply } from './reply.ts';
import type { OperationDependencies } from '../dependencies/dependencies.ts';

/** Sections of the documentation, in its order. */
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

/** What a handler is given: input that has passed the contract, and who asks. */
export type Call<Params, Query, Body> = {
  readonly params: Params;
  readonly query: Query;
  readonly body: Body;
  readonly caller: Caller;
  readonly requestId: string;
  /** Ids of events follow from it, so that a repeated command records once. */
  readonly commandId: string;
  /** The command may have come before, with its first attempt recorded or not. */
  readonly mayRepeat: boolean;
  /** Of endpoints with pages: where this one starts. */
  readonly page: PageRequest;
  /** Runs a command of the caller in the caller's workspace. */
  readonly execute: ExecuteCommand;
};

/** How `data` and `meta` of a reply look. `paged` lists have a cursor; `whole` lists have not. */
export type ReplyShape = 'record' | 'brand' | 'whole' | 'paged';

/** Every endpoint may answer these besides its own. */
export const SHARED_ERRORS = [
  'bad_request',
  'unauthorized',
  'forbidden',
  'rate_limited',
  'internal',
] as const;

type Contract = {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  /** With parameters in braces: `/v1/brands/{brandId}`. */
  readonly path: string;
  readonly operationId: string;
  readonly tag: Tag;
  readonly scope: Scope;
  readonly summary: string;
  readonly description: string;
  readonly reply: {
    readonly status: 200 | 201;
    readonly shape: ReplyShape;
    /** Of a list: one item. */
    readonly data: z.ZodType;
    /** `data` of a reply. */
    readonly example: unknown;
  };
  /** Beyond `SHARED_ERRORS`. */
  readonly errors: readonly ErrorType[];
  /** Reads the corpus: replies carry an ETag. */
  readonly corpus: boolean;
  /** Projections it reads, waited for when a caller sends `min-position`. */
  readonly reads: readonly string[];
};

/** One endpoint: its contract and its handler. */
export type Endpoint = Contract & {
  readonly params: z.ZodObject;
  readonly query: z.ZodObject;
  readonly body: { readonly schema: z.ZodType; readonly example: unknown } | null;
  /** Values of required parameters in the documentation. */
  readonly paramsExample: Readonly<Record<string, string>>;
  readonly handler: (call: Call<never, never, never>, dependencies: OperationDependencies) => Promise<Reply>;
};

/** An endpoint whose handler knows the types of its contract. */
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

/** Errors an endpoint may answer with, all of them. */
export const errorsOf = (one: Endpoint): readonly ErrorType[] => [
  ...SHARED_ERRORS,
  ...one.errors,
  // The idempotency key of any POST may be in use for another body.
  ...(one.method === 'POST' && !one.errors.includes('conflict') ? (['conflict'] as const) : []),
];
