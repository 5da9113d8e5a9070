import type pg from 'pg';

/**
 * `COPY … TO STDOUT` as a query of the driver: rows arrive as the bytes that PostgreSQL sends. An ordinary result
 * would encode every payload in hexadecimal. A COPY through a stream neither ends nor fails when the connection is
 * lost; the driver does report that to a query.
 */
export function copyOut<Row>(
  client: pg.PoolClient,
  select: string,
  parse: (row: Buffer) => Row,
  maxBytes: number,
): Promise<Copied<Row>> {
  return new Promise((resolve, reject) => {
    const text = `copy (${select}) to stdout (format binary)`;
    client.query(new CopyOut(text, parse, maxBytes, resolve, reject));
  });
}

/** The first rows, up to the one that reaches the maximum of bytes. */
export interface Copied<Row> {
  readonly rows: Row[];
  /** True when further rows were dropped. */
  readonly isCut: boolean;
}

/** The COPY header: "PGCOPY\n\377\r\n\0", flags, and the length of an unused extension. The first row follows it. */
const HEADER_BYTES = 19;
/** End marker, in the place of a column count after the last row. */
const END_OF_COPY = -1;

/** The part of the driver's connection that a query of its own needs. */
interface Connection {
  query(text: string): void;
}

class CopyOut<Row> implements pg.Submittable {
  readonly #text: string;
  readonly #parse: (row: Buffer) => Row;
  readonly #maxBytes: number;
  readonly #resolve: (copied: Copied<Row>) => void;
  readonly #reject: (error: unknown) => void;
  readonly #rows: Row[] = [];
  #bytes = 0;
  #isCut = false;
  #isFirst = true;
  /**
   * Set by the driver when it limits the time of a query. It must be called at the end, or its timer keeps the rows
   * in memory.
   */
  callback: ((error: unknown) => void) | undefined;

  constructor(
    text: string,
    parse: (row: Buffer) => Row,
    maxBytes: number,
    resolve: (copied: Copied<Row>) => void,
    reject: (error: unknown) => void,
  ) {
    this.#text = text;
    this.#parse = parse;
    this.#maxBytes = maxBytes;
    this.#resolve = resolve;
    this.#reject = reject;
  }

  submit(connection: Connection): void {
    connection.query(this.#text);
  }

  /**
   * Receives one message per row; the header comes with the first. The bytes belong to the driver and are valid
   * only during the call.
   */
  handleCopyData(message: { readonly chunk: Buffer }): void {
    const row = this.#isFirst ? message.chunk.subarray(HEADER_BYTES) : message.chunk;
    this.#isFirst = false;
    if (row.readInt16BE(0) === END_OF_COPY) return;
    if (this.#bytes >= this.#maxBytes) {
      this.#isCut = true;
      return;
    }
    this.#bytes += row.length;
    this.#rows.push(this.#parse(row));
  }

  handleCommandComplete(): void {}

  handleReadyForQuery(): void {
    this.#resolve({ rows: this.#rows, isCut: this.#isCut });
    this.callback?.(null);
  }

  handleError(error: unknown): void {
    this.#reject(error);
    this.callback?.(error);
  }
}
