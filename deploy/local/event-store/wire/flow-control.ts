import type { ServerDuplexStream, ServerWritableStream } from '@grpc/grpc-js';
import { createWakeSignal } from '#platform/concurrency/wake-signal.ts';
import type { CallError } from './error-trailers.ts';

/** Maximum buffered bytes of one call before the sender waits. */
const MAX_UNSENT_BYTES = 256 * 1024;

type Call = ServerWritableStream<Buffer, Buffer> | ServerDuplexStream<Buffer, Buffer>;

/**
 * Sends as fast as the client takes. The stream's own high-water mark of sixteen messages would cost an event-loop
 * round trip for every few hundred bytes.
 */
export class CallWriter {
  readonly #call: Call;
  #unsentBytes = 0;
  readonly #writable = createWakeSignal();
  #isOver = false;
  #onOver: (() => void)[] = [];

  constructor(call: Call) {
    this.#call = call;
    const over = () => this.#end();
    call.on('cancelled', over);
    call.on('close', over);
    if (call.cancelled) this.#end();
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  onOver(callback: () => void): void {
    if (this.#isOver) callback();
    else this.#onOver.push(callback);
  }

  send(message: Buffer): void {
    if (this.#isOver) return;
    this.#unsentBytes += message.length;
    this.#call.write(message, () => {
      this.#unsentBytes -= message.length;
      if (this.#unsentBytes < MAX_UNSENT_BYTES / 2) this.#writable.notify();
    });
  }

  /** Checked before each message, because one may be large. */
  get isFull(): boolean {
    return !this.#isOver && this.#unsentBytes >= MAX_UNSENT_BYTES;
  }

  /** Also resolves when the call has ended. */
  async untilWritable(): Promise<void> {
    if (this.isFull) await this.#writable.next();
  }

  finish(): void {
    if (!this.#isOver) this.#call.end();
    this.#end();
  }

  fail(error: CallError): void {
    if (!this.#isOver) this.#call.emit('error', error);
    this.#end();
  }

  #end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#writable.notify();
    for (const callback of this.#onOver) callback();
    this.#onOver = [];
  }
}
