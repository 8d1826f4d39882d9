/** `pnpm bench [target] [options]`. Exit code 1 if one of our own results is wrong or missing, 2 for a wrong command. */

const HELP = `usage: pnpm bench [cpu] [--quick]
       pnpm bench webgpu [--quick] [--device D] [--only OP,...]
       pnpm bench level-zero [--quick] [--device cpu|system] [--only OP,...]
       pnpm bench limits [--quick] [--device D] [--only OP,...] [--case NAME] [--torch FILE] [--enable TOGGLE,...]
       pnpm bench soak   [--backend webgpu|level-zero|cpu] [--device D] [--ops N] [--seed N] [--json FILE]

  cpu         the CPU backend beside other JavaScript libraries
  webgpu      the WebGPU backend beside jax-js and TensorFlow.js on the same device, in Node
  level-zero  the Level Zero backend beside OpenBLAS and loops in C, all on the CPU
  limits      the cases that PyTorch is timed with on a large GPU, as JSON lines; --torch compares with its lines
  soak        many random ops with their allocations, to see that nothing grows

  --device    WebGPU: lavapipe or swiftshader (software, set up when needed), or system (default): the GPU of this
              machine. Level Zero: cpu (default), the CPU driver, built when needed, or system
  --quick     tiny sizes, to see that everything runs; the numbers mean nothing
`;

// Loaded by need: the limits run where no peer is installed.
const TARGETS: Readonly<Record<string, (args: readonly string[]) => Promise<boolean>>> = {
  cpu: async (args) => (await import('./cpu.ts')).benchCpu(args),
  webgpu: async (args) => (await import('./webgpu.ts')).benchWebgpu(args),
  'level-zero': async (args) => (await import('./level-zero.ts')).benchLevelZero(args),
  limits: async (args) => (await import('./limits.ts')).benchLimits(args),
  soak: async (args) => (await import('./soak.ts')).benchSoak(args),
};

const [first = 'cpu', ...rest] = process.argv.slice(2);
const [name, args] = first.startsWith('-') ? ['cpu', [first, ...rest]] : [first, rest];
const target = TARGETS[name];

if ([first, ...rest].some((argument) => argument === '--help' || argument === '-h')) {
  process.stdout.write(HELP);
} else if (target === undefined) {
  process.stderr.write(`there is no target ${name}\n\n${HELP}`);
  process.exitCode = 2;
} else {
  process.exitCode = await run(target);
}

async function run(bench: (args: readonly string[]) => Promise<boolean>): Promise<number> {
  try {
    return (await bench(args)) ? 0 : 1;
  } catch (error) {
    const isUsage = (error as { code?: string }).code?.startsWith('ERR_PARSE_ARGS') === true;
    process.stderr.write(isUsage ? `${(error as Error).message}\n\n${HELP}` : `${describe(error)}\n`);
    return isUsage ? 2 : 1;
  }
}

function describe(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { hint } = error as { hint?: string };
  return `${error.stack ?? error.message}${hint === undefined ? '' : `\n${hint}`}`;
}
