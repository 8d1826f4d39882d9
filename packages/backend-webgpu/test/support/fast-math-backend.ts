import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { BackendError, BINARY_OPS, UNARY_OPS } from '@concord/backend-core';
import { type BackendKernels, BaseBackend, type InitResult, type Operand } from '@concord/backend-core/implement';
import { binaryKernel, type Kernel, unaryKernel } from '@concord/backend-core/kernel';
import { elementProgram } from './wgsl-to-c.ts';

type Span = Operand<Uint8Array<ArrayBuffer>>;

const bytesOf = ({ buffer, byteOffset, byteLength }: Span): Uint8Array<ArrayBuffer> =>
  buffer.subarray(byteOffset, byteOffset + byteLength);

const KERNELS: readonly Kernel[] = [...UNARY_OPS.map(unaryKernel), ...BINARY_OPS.map(binaryKernel)];

/**
 * The WGSL of unary and binary as a C compiler understands them that assumes what WGSL lets compilers assume:
 * there are no NaN and infinities, sums may be regrouped, subnormals are flushed. Shader compilers do so, those of Metal by
 * default. As a backend, so that the conformance suite judges it.
 */
export class FastMathBackend extends BaseBackend<Uint8Array<ArrayBuffer>> {
  readonly name = 'webgpu';
  readonly native = null;
  protected readonly kernels: BackendKernels<Uint8Array<ArrayBuffer>> = {
    run: {
      dtypes: ['f32'],
      covers: 'some',
      refuse: ({ kernel }) => (KERNELS.includes(kernel) ? undefined : `kernel ${kernel.name} is not built in`),
      run: ({ geometry, inputs, outputs }) => this.#run(geometry.kernel.name, inputs as Span[], outputs[0] as Span),
    },
  };
  readonly #options: readonly string[];
  readonly #folder: string = mkdtempSync(join(tmpdir(), 'concord-fast-math-'));

  /** @param options - of gcc */
  constructor(options: readonly string[]) {
    super();
    this.#options = options;
  }

  protected async doInit(): Promise<InitResult> {
    // WGSL's integers wrap.
    const options = [...this.#options, '-std=gnu11', '-fwrapv', '-x', 'c', '-', '-o', this.#program, '-lm'];
    const { status, error, stderr } = spawnSync('gcc', options, { input: elementProgram(KERNELS), encoding: 'utf8' });
    if (error !== undefined) {
      const reason = (error as NodeJS.ErrnoException).code === 'ENOENT' ? 'library-missing' : 'failed';
      throw new BackendError('BACKEND_UNAVAILABLE', `gcc: ${error.message}`, { reason, hint: 'install gcc' });
    }
    if (status !== 0) throw new Error(stderr);
    return {
      device: { vendor: 'GNU', name: 'gcc', type: 'software', driver: this.#options.join(' ') },
      limits: { maxAllocationBytes: 2 ** 30, maxHeadDim: 256, maxTopK: 256 },
      numerics: { f32Subnormals: 'may-flush' },
    };
  }

  protected async doDispose(): Promise<void> {
    rmSync(this.#folder, { recursive: true });
  }

  protected doAlloc(bytes: number): Uint8Array<ArrayBuffer> {
    return new Uint8Array(bytes);
  }

  protected doFree(): void {}

  protected doCopyHtod(dst: Span, src: Uint8Array): void {
    bytesOf(dst).set(src);
  }

  protected async doCopyDtoh(src: Span, deliver: (bytes: Uint8Array) => void): Promise<void> {
    deliver(bytesOf(src));
  }

  protected doCopyDtod(dst: Span, src: Span): void {
    bytesOf(dst).set(bytesOf(src));
  }

  protected doFill(dst: Span, byte: number): void {
    bytesOf(dst).fill(byte);
  }

  protected async doSynchronize(): Promise<void> {}

  get #program(): string {
    return join(this.#folder, 'functions');
  }

  #run(name: string, operands: readonly Span[], output: Span): void {
    const input = Buffer.concat(operands.map(bytesOf));
    const maxBuffer = input.byteLength + 1024;
    const { status, stdout } = spawnSync(this.#program, [name, String(input.byteLength / 4)], { input, maxBuffer });
    if (status !== 0) throw new BackendError('DEVICE_ERROR', `${name}: the program ended with ${status}`);
    bytesOf(output).set(stdout.subarray(0, output.byteLength));
  }
}
