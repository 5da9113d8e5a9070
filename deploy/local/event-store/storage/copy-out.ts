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
): Promise<readonly Row[]> {
  return new Promise((resolve, reject) => {
    const text = `copy (${select}) to stdout (format binary)`;
    client.query(new CopyOut(text, parse, resolve, reject));
  });
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
  readonly #resolve: (rows: readonly Row[]) => void;
  readonly #reject: (error: unknown) => void;
  readonly #rows: Row[] = [];
  #isFirst = true;
  /**
   * Set by the driver when it limits the time of a query. It must be called at the end, or its timer keeps the rows
   * in memory.
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

  /**
   * Receives one message per row; the header comes with the first. The bytes belong to the driver and are valid
   * only during the call.
   */
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
