import { sizeClass } from '@concord/variants';
import type { Span } from '../kernels/recorder.ts';
import type { CommandStream } from './command-stream.ts';
import { inScopes, type Scoped } from './errors.ts';
import { type GpuContext, MAP_READ, USAGE } from './gpu-source.ts';

/** Staging memory that is kept for the next read. */
const MAX_KEPT_BYTES = 16 * 2 ** 20;

/** Reads device memory through staging buffers, which are reused. */
export class Readback {
  readonly #context: GpuContext;
  readonly #stream: CommandStream;
  readonly #report: (caught: Scoped<unknown>['caught'], bytes: number) => void;
  readonly #kept = new Map<number, GPUBuffer[]>();
  #keptBytes = 0;

  /** @param report - gets what the device makes of staging memory of a number of bytes */
  constructor(
    context: GpuContext,
    stream: CommandStream,
    report: (caught: Scoped<unknown>['caught'], bytes: number) => void,
  ) {
    this.#context = context;
    this.#stream = stream;
    this.#report = report;
  }

  /**
   * Records a copy of `src` in call order, submits it, and gives `deliver` the bytes when they are there. They are valid
   * during that call only.
   */
  async read(src: Span, deliver: (bytes: Uint8Array) => void): Promise<void> {
    // Copies take multiples of 4: the words around the span are copied too.
    const lead = src.byteOffset % 4;
    const size = Math.ceil((lead + src.byteLength) / 4) * 4;
    // On its own, so that staging memory which is refused fails no op.
    this.#stream.flush();
    const staging = this.#take(size);
    this.#stream.copyOut(staging, { buffer: src.buffer, byteOffset: src.byteOffset - lead, byteLength: size });
    this.#stream.flush();
    try {
      await this.#context.awaiting(() => staging.mapAsync(MAP_READ, 0, size));
      deliver(new Uint8Array(staging.getMappedRange(0, size), lead, src.byteLength));
      staging.unmap();
    } catch (error) {
      staging.destroy();
      throw error;
    }
    this.#keep(staging);
  }

  destroy(): void {
    for (const buffers of this.#kept.values()) for (const buffer of buffers) buffer.destroy();
    this.#kept.clear();
    this.#keptBytes = 0;
  }

  #take(bytes: number): GPUBuffer {
    const size = sizeClass(bytes, 4);
    const kept = this.#kept.get(size)?.pop();
    if (kept !== undefined) {
      this.#keptBytes -= size;
      return kept;
    }
    const usage = USAGE.mapRead | USAGE.copyDst;
    const { value, caught } = inScopes(this.#context, () =>
      this.#context.device.createBuffer({ size, usage, label: 'staging' }),
    );
    this.#report(caught, bytes);
    return value;
  }

  #keep(staging: GPUBuffer): void {
    if (this.#keptBytes + staging.size > MAX_KEPT_BYTES) {
      staging.destroy();
      return;
    }
    this.#keptBytes += staging.size;
    const list = this.#kept.get(staging.size);
    if (list === undefined) this.#kept.set(staging.size, [staging]);
    else list.push(staging);
  }
}
