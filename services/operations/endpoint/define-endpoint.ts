import type { z } from 'zod';
import type { ErrorType } from '#contracts/errors.ts';
import type { PageRequest } from '#contracts/ports/read-database.ts';
import type { Scope } from '#contracts/values/access.ts';
import { CalendarDate } from '#contracts/values/primitives.ts';
import type { Caller } from '#application/access/key-lease-cache.ts';
import type { WorkspaceCommand, WorkspaceResult } from '#application/commands/workspace-commands.ts';
import type { Event } from '#contracts/events/event.ts';
import type { Reply } from './reply.ts';
import type { OperationDependencies } from '../dependencies/dependencies.ts';

/** Sections of the documentation, in order. */
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

/** Actor, workspace, request id and command id default to those of the call. */
export type CallCommand<State, E extends Event> = Pick<
  WorkspaceCommand<State, E>,
  'stream' | 'decider' | 'decision' | 'shownIn' | 'isShared'
> & {
  /** Must be unique, because event ids are derived from it. Required for a second command of the same call. */
  readonly commandId?: string;
};

/** Runs a command and waits until the read models show its result. Throws the refusal of the decision. */
export type ExecuteCommand = <State, E extends Event>(
  command: CallCommand<State, E>,
) => Promise<WorkspaceResult<State, E>>;

export type Call<Params, Query, Body> = {
  readonly params: Params;
  readonly query: Query;
  readonly body: Body;
  readonly caller: Caller;
  readonly requestId: string;
  /** Event ids are derived from it, so that a repeated command appends its events once. */
  readonly commandId: string;
  /** True for a possible retry: an earlier attempt may already have appended its events. */
  readonly mayRepeat: boolean;
  /** Used by paged endpoints only. */
  readonly page: PageRequest;
  readonly execute: ExecuteCommand;
};

/** A `paged` list has a cursor, a `whole` list has none. */
export type ReplyShape = 'record' | 'brand' | 'whole' | 'paged';

export const SHARED_ERRORS = [
  'bad_request',
  'unauthorized',
  'forbidden',
  'rate_limited',
  'internal',
  'unavailable',
] as const;

export type Contract = {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  readonly path: string;
  readonly operationId: string;
  readonly tag: Tag;
  readonly scope: Scope;
  /** A scope in place of `scope`. The handler shows what the scopes of the caller allow. */
  readonly orScope?: Scope;
  readonly summary: string;
  readonly description: string;
  readonly reply: {
    readonly status: 200 | 201;
    readonly shape: ReplyShape;
    /** Schema of the result; for a list, of one item. */
    readonly data: z.ZodType;
    readonly example: unknown;
    /** Property of a record that holds its list. */
    readonly list?: string;
  };
  /** Errors besides `SHARED_ERRORS`. */
  readonly errors: readonly ErrorType[];
  /** True for reads of the corpus, whose replies have an ETag. */
  readonly corpus: boolean;
  /** Allows `db.slow`: such a read takes a place of its workspace and has more time. */
  readonly heavy?: boolean;
  /** The endpoint takes `as_of`; the read is about the brand, ad or workspace of its path. */
  readonly past?: 'brand' | 'ad' | 'workspace';
  /** Projections that a request with `min-position` waits for. */
  readonly reads: readonly string[];
  /** The specification does not have this endpoint. */
  readonly beyondContract?: true;
  /** Told by every reply and by the document; absent for an endpoint that stays. */
  readonly deprecated?: Deprecation;
};

/** RFC 9745 and RFC 8594. Dates such as `2027-01-31`, in UTC. */
export type Deprecation = {
  readonly since: string;
  /** From then on the endpoint may be gone; absent while that is not decided. */
  readonly sunset?: string;
  /** Address of what replaces it. */
  readonly successor: string;
};

export const deprecationHeaders = ({
  since,
  sunset,
  successor,
}: Deprecation): Readonly<Record<string, string>> => ({
  deprecation: `@${Date.parse(CalendarDate.parse(since)) / 1_000}`,
  ...(sunset === undefined ? {} : { sunset: new Date(CalendarDate.parse(sunset)).toUTCString() }),
  link: `<${successor}>; rel="successor-version"`,
});

export type Endpoint = Contract & {
  readonly params: z.ZodObject;
  readonly query: z.ZodObject;
  readonly body: { readonly schema: z.ZodType; readonly example: unknown } | null;
  readonly paramsExample: Readonly<Record<string, string>>;
  readonly handler: (call: Call<never, never, never>, dependencies: OperationDependencies) => Promise<Reply>;
};

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

/** A key needs one of them. */
export const scopesOf = ({ scope, orScope }: Endpoint): readonly Scope[] =>
  orScope === undefined ? [scope] : [scope, orScope];

export const errorsOf = ({ method, errors }: Endpoint): readonly ErrorType[] => [
  ...SHARED_ERRORS,
  ...errors,
  // Any POST can conflict: its idempotency key may belong to a request with another body.
  ...(method === 'POST' && !errors.includes('conflict') ? (['conflict'] as const) : []),
];
