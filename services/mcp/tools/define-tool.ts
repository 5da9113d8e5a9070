import type { CallToolResult } from '@modelcontextprotocol/server';
import type { z } from 'zod';
import type { Caller } from '#application/access/key-lease-cache.ts';
import type { Scope } from '#contracts/values/access.ts';
import type { Endpoint } from '#operations/endpoint/define-endpoint.ts';
import type { Clock } from '#platform/clock.ts';
import type { PastBasis } from '#application/as-of/past-reads.ts';
import type { Cursors } from '#operations/dependencies/cursors.ts';
import type { Json } from '../output/observed.ts';
import type { ImagesAsked, Pictures, ShownCreative } from '../output/pictures.ts';

export type Part = {
  readonly data: Json;
  readonly asOf: string | null;
  readonly cursor: string | null;
  /** Sentences for the notes of the answer: one when it is of a past moment. */
  readonly notes: readonly string[];
  /** Counts of the events of a past moment; `null` for the present. */
  readonly past: Pick<PastBasis, 'events' | 'late'> | null;
};

export type EndpointInput = {
  /** Without `ws`, which is always the caller's workspace. */
  readonly params?: Readonly<Record<string, unknown>>;
  readonly query?: Readonly<Record<string, unknown>>;
  readonly body?: unknown;
};

export type ToolContext = {
  readonly caller: Caller;
  /** Calls an endpoint as the caller. Throws its `Refusal`. */
  readonly call: (endpoint: Endpoint, input?: EndpointInput) => Promise<Part>;
  /** Most wanted creatives first. Never throws. */
  readonly pictures: (creatives: readonly ShownCreative[], asked: ImagesAsked) => Promise<Pictures>;
  readonly cursors: Cursors;
  readonly baseUrl: string;
  readonly clock: Clock;
  readonly now: number;
};

export type Tool = {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly input: z.ZodObject;
  /** `text`: without a schema, as clients expect of `search` and `fetch`. */
  readonly output: 'structured' | 'text';
  readonly kind: 'reader' | 'writer';
  readonly isDestructive?: boolean;
  /** All scopes that this call needs. `args` is unchecked and may hold any value. */
  readonly scopes: (args: never) => readonly Scope[];
  /** Maximum endpoints that this call reads. `args` is unchecked. */
  readonly cost: (args: never) => number;
  readonly run: (args: never, context: ToolContext) => Promise<CallToolResult>;
};

export const tool = <Input extends z.ZodObject>(
  definition: Omit<Tool, 'input' | 'scopes' | 'cost' | 'run'> & {
    readonly input: Input;
    readonly scopes: (args: z.infer<Input>) => readonly Scope[];
    readonly cost: (args: z.infer<Input>) => number;
    readonly run: (args: z.infer<Input>, context: ToolContext) => Promise<CallToolResult>;
  },
): Tool => definition;
