import type { CallToolResult } from '@modelcontextprotocol/server';
import { omitUndefined } from '#operations/endpoint/omit-undefined.ts';
import type { Endpoint } from '#operations/endpoint/define-endpoint.ts';
import { Refusal } from '#contracts/errors.ts';
import {
  ENVELOPE_BYTES,
  RESULT_MAX_BYTES,
  countThatFits,
  fitLists,
  structuredResult,
  timesOf,
  toCard,
} from '../output/result.ts';
import { type Json, type JsonObject, OBSERVED_IN_LISTS_MAX, separate } from '../output/observed.ts';
import type { EndpointInput, Part, ToolContext } from './define-tool.ts';

const ITEMS_MAX_BYTES = RESULT_MAX_BYTES - ENVELOPE_BYTES;
/** Larger than the texts of any card, so that only long lists in it are cut. */
const CARD_MAX_BYTES = 12 * 1024;

export type ListRequest = {
  readonly limit: number;
  readonly cursor?: string | undefined;
  readonly params?: EndpointInput['params'];
  readonly query?: EndpointInput['query'];
  /** True when the top-level texts are the service's or a member's. */
  readonly isOwn?: boolean;
  readonly notes?: readonly string[];
};

export type CardPage = Omit<Part, 'data' | 'past'> & { readonly items: readonly Json[] };

/** Cuts lists inside a card that is too large; one with too long texts keeps only its identity. */
const fitCard = (card: Json): Json => {
  const { value } = fitLists(card, CARD_MAX_BYTES);
  if (value !== null || card === null || typeof card !== 'object') return value;
  const { observed: _, ...plain } = card as JsonObject;
  return fitLists({ ...plain, observed_cut: true }, CARD_MAX_BYTES).value;
};

const cardsOf = (data: Json, isOwn: boolean, { baseUrl }: ToolContext): readonly Json[] =>
  (data as readonly Json[]).map((item) =>
    fitCard(toCard(separate(item, { maxLength: OBSERVED_IN_LISTS_MAX, baseUrl, isOwn }))),
  );

const cutNote = (kept: number, total: number): string =>
  `${kept} of ${total} items, to keep the answer short; \`next_cursor\` leads to the others.`;

/** Reads again with fewer items when they do not fit, so that the cursor leads to the first omitted item. */
const readPage = async (
  endpoint: Endpoint,
  request: ListRequest,
  context: ToolContext,
): Promise<CardPage> => {
  const { limit, cursor, params = {}, query = {}, isOwn = false, notes = [] } = request;
  const read = (size: number): Promise<Part> =>
    context.call(endpoint, { params, query: omitUndefined({ ...query, limit: size, cursor }) });
  const part = await read(limit);
  const items = cardsOf(part.data, isOwn, context);
  const kept = countThatFits(items, ITEMS_MAX_BYTES);
  if (kept === items.length) return { ...part, items, notes: [...part.notes, ...notes] };
  const shorter = await read(Math.max(1, kept));
  const cards = cardsOf(shorter.data, isOwn, context);
  return {
    ...shorter,
    items: cards.slice(0, countThatFits(cards, ITEMS_MAX_BYTES)),
    notes: [...shorter.notes, ...notes, cutNote(cards.length, items.length)],
  };
};

const readWhole = async (
  endpoint: Endpoint,
  request: ListRequest,
  context: ToolContext,
): Promise<CardPage> => {
  const { limit, cursor, params = {}, query = {}, isOwn = false, notes = [] } = request;
  const filters = JSON.stringify(['mcp', endpoint.operationId, context.caller.workspaceId, params, query]);
  const from = cursor === undefined ? 0 : Number(context.cursors.open(cursor, filters)[0]);
  const part = await context.call(endpoint, { params, query: omitUndefined(query) });
  const cards = cardsOf(part.data, isOwn, context);
  const page = cards.slice(from, from + limit);
  const kept = countThatFits(page, ITEMS_MAX_BYTES);
  const end = from + kept;
  return {
    items: page.slice(0, kept),
    asOf: part.asOf,
    cursor: end < cards.length ? context.cursors.sign(filters, [end]) : null,
    notes: kept < page.length ? [...notes, cutNote(kept, page.length)] : notes,
  };
};

export const readCards = (
  endpoint: Endpoint,
  request: ListRequest,
  context: ToolContext,
): Promise<CardPage> =>
  endpoint.reply.shape === 'paged'
    ? readPage(endpoint, request, context)
    : readWhole(endpoint, request, context);

export const listAnswer = async (
  endpoint: Endpoint,
  request: ListRequest,
  context: ToolContext,
): Promise<CallToolResult> => {
  const page = await readCards(endpoint, request, context);
  return structuredResult({
    items: page.items,
    ...timesOf([page.asOf], context.now),
    ...(page.cursor === null ? {} : { next_cursor: page.cursor }),
    notes: page.notes,
  });
};

export type Section = {
  readonly name: string;
  readonly endpoint: Endpoint;
  readonly input: EndpointInput;
  /** True when the top-level names are the service's or a member's. */
  readonly isOwn?: boolean;
};

export type ReadSections = {
  readonly sections: JsonObject;
  readonly asOfs: readonly (string | null)[];
  readonly cursor: string | null;
};

/** Reads concurrently. A failed section holds its reason; invalid input concerns the whole call and throws. */
export const readSections = async (
  wanted: readonly Section[],
  context: ToolContext,
): Promise<ReadSections> => {
  const { call, baseUrl, now } = context;
  const read = await Promise.all(
    wanted.map(async ({ name, endpoint, input, isOwn = false }) => {
      try {
        const { data, asOf, cursor } = await call(endpoint, input);
        const value = separate(data, { maxLength: OBSERVED_IN_LISTS_MAX, baseUrl, isOwn });
        const shown = Array.isArray(value) ? { items: value } : (value as JsonObject);
        // Last, because some records have their own `as_of`.
        const section: JsonObject = { ...shown, as_of: asOf ?? new Date(now).toISOString() };
        return { name, section, asOf, cursor };
      } catch (error) {
        if (
          !(error instanceof Refusal) ||
          error.code === 'invalid_input' ||
          error.code === 'invalid_cursor'
        ) {
          throw error;
        }
        const section: JsonObject = { unavailable: error.message };
        return { name, section, asOf: null, cursor: null };
      }
    }),
  );
  return {
    sections: Object.fromEntries(read.map(({ name, section }): [string, Json] => [name, section])),
    asOfs: read.map(({ asOf }) => asOf),
    cursor: read[0]?.cursor ?? null,
  };
};
