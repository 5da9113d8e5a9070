import type pg from 'pg';

/**
 * Rows of `COPY … TO STDOUT` as PostgreSQL's bytes; ordinary results encode payloads in hexadecimal. A stream neither
 * ends nor fails on a lost connection, but the driver reports that to a query.
 */
export function copyOut<Row>(
  client: pg.PoolClient,
  select: string,
  parse: (row: Buffer) => Row,
): Promise<readonly Row[]> {
  return new Promise((resolve, reject) => {
    const text = `copy (${select}) to stdout (format binary)`;
    client.query(new CopyOut(text, parse, resolve, reject));
  });
}

/** "PGCOPY\n\377\r\n\0", flags, and the length of an unused extension. */
const HEADER_BYTES = 19;
/** The end marker stands in place of a column count after the last row. */
const END_OF_COPY = -1;

interface Connection {
  query(text: string): void;
}

class CopyOut<Row> implements pg.Submittable {
  readonly #text: string;
  readonly #parse: (row: Buffer) => Row;
  readonly #resolve: (rows: readonly Row[]) => void;
  readonly #reject: (error: unknown) => void;
  readonly #rows: Row[] = [];
  #isFirst = true;
  /**
   * The driver sets it when it limits the time of a query. Call it at the end, or its timer keeps the rows in memory.
   */
  callback: ((error: unknown) => void) | undefined;

  constructor(
    text: string,
    parse: (row: Buffer) => Row,
    resolve: (rows: readonly Row[]) => void,
    reject: (error: unknown) => void,
  ) {
    this.#text = text;
    this.#parse = parse;
    this.#resolve = resolve;
    this.#reject = reject;
  }

  submit(connection: Connection): void {
    connection.query(this.#text);
  }

  /** One message per row; the header comes with the first. The bytes are valid only during the call. */
  handleCopyData(message: { readonly chunk: Buffer }): void {
    const row = this.#isFirst ? message.chunk.subarray(HEADER_BYTES) : message.chunk;
    this.#isFirst = false;
    if (row.readInt16BE(0) === END_OF_COPY) return;
    this.#rows.push(this.#parse(row));
  }

  handleCommandComplete(): void {}

  handleReadyForQuery(): void {
    this.#resolve(this.#rows);
    this.callback?.(null);
  }

  handleError(error: unknown): void {
    this.#reject(error);
    this.callback?.(error);
  }
}
