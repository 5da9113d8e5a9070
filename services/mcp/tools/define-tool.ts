import type { CallToolResult } from '@modelcontextprotocol/server';
import type { z } from 'zod';
import type { Caller } from '#application/access/key-lease-cache.ts';
import type { Scope } from '#contracts/values/access/scopes.ts';
import type { Endpoint } from '#operations/endpoint/define-endpoint.ts';
import type { Clock } from '#platform/clock.ts';
import type { Cursors } from '#operations/dependencies/cursors.ts';
import type { Json } from '../output/observed.ts';
import type { ImagesAsked, Pictures, ShownCreative } from '../output/pictures.ts';

/** Reply of an endpoint, with `data` parsed. */
export type Part = { readonly data: Json; readonly asOf: string | null; readonly cursor: string | null };

export type EndpointInput = {
  /** Path parameters without `ws`, which is always the caller's workspace. */
  readonly params?: Readonly<Record<string, unknown>>;
  /** Query parameters; `undefined` counts as absent. */
  readonly query?: Readonly<Record<string, unknown>>;
  readonly body?: unknown;
};

/** Resources and identity that a tool gets for one call. */
export type ToolContext = {
  readonly caller: Caller;
  /** Calls an endpoint as the caller. Throws `Refusal`, as the endpoint does. */
  readonly call: (endpoint: Endpoint, input?: EndpointInput) => Promise<Part>;
  /** Reads thumbnails of creatives that the result shows. The most wanted come first. Never throws. */
  readonly pictures: (creatives: readonly ShownCreative[], asked: ImagesAsked) => Promise<Pictures>;
  readonly cursors: Cursors;
  readonly baseUrl: string;
  readonly clock: Clock;
  /** Time of the call in milliseconds since 1970. */
  readonly now: number;
};

/** A tool: its contract for clients, what it costs and needs, and its work. */
export type Tool = {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly input: z.ZodObject;
  /** `text`: JSON as text without a schema, in the form that clients expect of `search` and `fetch`. */
  readonly output: 'structured' | 'text';
  readonly kind: 'reader' | 'writer';
  readonly isDestructive?: boolean;
  /** Scopes that this call needs, all of them. Unchecked arguments: other values than expected may occur. */
  readonly scopes: (args: never) => readonly Scope[];
  /** Endpoints that this call reads at most: it costs as many requests of the caller's minute. */
  readonly cost: (args: never) => number;
  readonly run: (args: never, context: ToolContext) => Promise<CallToolResult>;
};

/** Defines a tool. Its functions get the type of its input. */
export const tool = <Input extends z.ZodObject>(
  definition: Omit<Tool, 'input' | 'scopes' | 'cost' | 'run'> & {
    readonly input: Input;
    readonly scopes: (args: z.infer<Input>) => readonly Scope[];
    readonly cost: (args: z.infer<Input>) => number;
    readonly run: (args: z.infer<Input>, context: ToolContext) => Promise<CallToolResult>;
  },
): Tool => definition;
