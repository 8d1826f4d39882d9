/** `pnpm bench [target] [options]`. Exit codes: see exit.ts. */
import type { DeviceName } from './devices.ts';
import { EXIT, exitCodeOf } from './options.ts';

const HELP = `usage: pnpm bench            [--device D,...] [--limit FILE] [RUN]
       pnpm bench webgpu     [--device D] [--limit FILE] [--ceilings N,N] [RUN]
       pnpm bench cpu        [--ceilings N,N] [RUN]
       pnpm bench wasm       [--threads N] [--ceilings N,N] [RUN]
       pnpm bench level-zero [--device cpu|system] [--ceilings N,N] [RUN]
         RUN: [--quick] [--only OP,...] [--case NAME] [--out FOLDER]
       pnpm bench report [--check] [FOLDER]
       pnpm bench kernels [--quick] [--device D] [--only OP,...] [--case NAME] [--force ID,...] [--torch FILE]
       pnpm bench gpt [--size small|tiny] [--dtype f32|f16] [--device D] [--torch | --limit FILE] [--json] [--out FOLDER]
       pnpm bench gpt --backend wasm [--size example|tiny] [--threads N] [--json] [--out FOLDER]
       pnpm bench lm [--model NAME] [--weights i4|i8|bf16] [--device D] [--torch | --limit FILE] [--json] [--out FOLDER]
       pnpm bench lm --backend wasm [--model NAME] [--weights i4|i8] [--threads N] [--json] [--out FOLDER]
       pnpm bench onnx [--size whole|tiny] [--only MODEL,...] [--device D] [--json] [--out FOLDER]
       pnpm bench onnx --backend wasm [--threads N] [--size whole|tiny] [--only MODEL,...] [--json] [--out FOLDER]
       pnpm bench train  [--size whole|tiny] [--only mlp,resnet,gpt] [--device D] [--torch | --limit FILE] [--json] [--out FOLDER]
       pnpm bench calls  [--size small|tiny] [--device D] [--rounds N] [--json]

  (none)      everything that is there: cpu, wasm, level-zero, and webgpu on the GPU and on the software devices
  webgpu      the WebGPU backend beside jax-js, TensorFlow.js and ONNX Runtime on the same device, in Node, and beside
              PyTorch where it has the GPU
  cpu         the CPU backend beside other libraries on the CPU, in Node
  wasm        the WebAssembly backend beside ONNX Runtime, on WebAssembly and native, with as many threads, and TensorFlow.js,
              in Node; what a small op costs, and what the caller's thread keeps of the processor
  level-zero  the Level Zero backend beside ONNX Runtime on the CPU
  report      writes tables of the results that are in FOLDER, or of the committed ones, and these into
              README.md; --check only says whether README.md has them
  kernels     our times of fused kernels through run, by the device's clock, as JSON lines; --torch: beside those that
              limits/torch_kernels.py printed
  gpt         GPT-2 with random weights on WebGPU beside ONNX Runtime: one token at 512 cached, and prefill;
              --torch runs limits/torch_gpt.py first, --limit takes what it printed; --size tiny for a software device;
              --backend wasm: the model of examples/lm beside ONNX Runtime on the processor, with as many threads
  lm          the decoder of examples/lm with random weights of llama-3.2-1b, llama-3.1-8b or smollm2-135m (--model; tiny for a
              software device): a token as it is generated after 1,024, 16 texts at once, and prefill; --torch runs
              limits/torch_lm.py first
  onnx        models as ONNX files on WebGPU beside ONNX Runtime, and a decoder beside examples/lm; --backend wasm: beside
              ONNX Runtime on WebAssembly and native, with as many threads
  train       recorded steps of training with AdamW: an MLP, ResNet-18 over 32 images, GPT-2 over 8x512 tokens; beside eager
              PyTorch with --torch (limits/torch_train.py), whose losses ours must be, and the MLP beside jax-js and
              TensorFlow.js
  calls       what our own JavaScript takes of a launch: GPT-2 on WebGPU with native calls of passes replaced by nothing

  --device    WebGPU: lavapipe or swiftshader (software, set up when needed), or system (default): the GPU of this
              machine. Level Zero: cpu (default), the CPU driver, built when needed, or system
  --quick     tiny sizes, to see that everything runs; the numbers mean nothing
  --only      ops such as gemm,conv2d; --case: one case by its name, such as 4096
  --limit     what limits/torch_limits.py printed on this GPU, instead of running it
  --ceilings  what the roofline is drawn by where no PyTorch measures it: TFLOP/s and TB/s, such as 67,4.8
  --out       where folders with results.json and table.md are written. Default: results/ for all cases, and
              nowhere for some of them

Exit codes: 1 if one of our own results is wrong or missing, 2 for a wrong command, 3 if there is nothing to run on.
`;

/** A command, with its arguments. @returns whether all is right */
type Target = (args: readonly string[]) => Promise<boolean>;

const device =
  (name: DeviceName): Target =>
  async (args) =>
    (await import('./devices.ts')).benchDevice(name, args);

// Loaded by need: each runs where the peers of the others are not installed.
const TARGETS: Readonly<Record<string, Target>> = {
  all: async (args) => (await import('./devices.ts')).benchAll(args),
  cpu: device('cpu'),
  webgpu: device('webgpu'),
  wasm: device('wasm'),
  'level-zero': device('level-zero'),
  report: async (args) => (await import('./report.ts')).benchReport(args),
  kernels: async (args) => (await import('./kernels.ts')).benchKernels(args),
  gpt: async (args) => (await import('./gpt.ts')).benchGpt(args),
  lm: async (args) => (await import('./lm.ts')).benchLm(args),
  onnx: async (args) => (await import('./onnx.ts')).benchOnnx(args),
  train: async (args) => (await import('./train.ts')).benchTrain(args),
  calls: async (args) => (await import('./calls.ts')).benchCalls(args),
};

const [first = 'all', ...rest] = process.argv.slice(2);
const [name, args] = first.startsWith('-') ? ['all', [first, ...rest]] : [first, rest];
const target = TARGETS[name];

if ([first, ...rest].some((argument) => argument === '--help' || argument === '-h')) {
  process.stdout.write(HELP);
} else if (target === undefined) {
  process.stderr.write(`there is no target ${name}\n\n${HELP}`);
  process.exitCode = EXIT.usage;
} else {
  process.exitCode = await run(target);
}

async function run(bench: Target): Promise<number> {
  try {
    return (await bench(args)) ? 0 : EXIT.failed;
  } catch (error) {
    const code = exitCodeOf(error);
    process.stderr.write(code === EXIT.usage ? `${(error as Error).message}\n\n${HELP}` : `${describe(error, code)}\n`);
    return code;
  }
}

function describe(error: unknown, code: number): string {
  if (!(error instanceof Error)) return String(error);
  const { hint } = error as { hint?: string };
  const text = code === EXIT.notHere ? error.message : (error.stack ?? error.message);
  return `${text}${hint === undefined ? '' : `\n${hint}`}`;
}
