import { ELEMENT_TYPES } from '@concord/backend-core/implement';
import { defineKernel, type Kernel, type Value } from '@concord/backend-core/kernel';
import { launchKernel } from '../compute/launches.ts';
import { placeOver } from '../compute/elementwise.ts';
import { Kernels } from '../compute/kernels.ts';
import { checkSameBackend, type OutOption, produce } from '../compute/produce.ts';
import { logSumExpOf } from '../folds/softmax.ts';
import { OUT, checkOptions, checkTensors, shown } from '../tensor/arguments.ts';
import { launch, refuse, shapeText } from '../tensor/errors.ts';
import { tidy } from '../tensor/scope.ts';
import type { Tensor } from '../tensor/tensor.ts';

/** Options of {@link crossEntropy}. */
export interface CrossEntropyOptions extends OutOption {
  /** `'mean'` and `'sum'` of the losses give one number; `'none'` gives them as they are. Default `'mean'`. */
  readonly reduction?: 'mean' | 'sum' | 'none';
  /** A target whose loss is 0 and is left out of the mean. Default: none. */
  readonly ignoreIndex?: number | undefined;
}

/**
 * `log(sum_j(e^x[i, j])) - x[i, t[i]]` for each row of logits `[n, c]` and its target, `[n]` integers: their mean, their
 * sum or all of them. Targets outside of 0 to c - 1 give NaN; the mean of no loss is NaN. One launch, a second one for
 * `'mean'` and `'sum'`.
 *
 * ONNX SoftmaxCrossEntropyLoss; PyTorch's cross_entropy, but that nothing is ignored unless asked.
 *
 * @throws {BackendError} INVALID_ARGUMENT for shapes that do not fit, integers as logits, floats as targets
 * @throws {BackendError} OUT_OF_MEMORY
 * @example
 * ```ts
 * const logits = tensor(backend, [[0, 0], [0, 1]]);
 * const targets = tensor(backend, [0, 1], [2], { dtype: 'i32' });
 * await crossEntropy(logits, targets).toArray(); // [0.5032]
 * await crossEntropy(logits, targets, { reduction: 'none' }).toArray(); // [0.6931, 0.3133]
 * ```
 */
export function crossEntropy(logits: Tensor, targets: Tensor, options: CrossEntropyOptions = {}): Tensor {
  checkTensors('crossEntropy', { logits, targets });
  checkOptions('crossEntropy', options, { ...OUT, reduction: 'any', ignoreIndex: 'number' });
  const { reduction = 'mean', ignoreIndex, out } = options;
  checkOperands(logits, targets);
  if (reduction !== 'mean' && reduction !== 'sum' && reduction !== 'none') {
    throw refuse('crossEntropy', `reduction must be mean, sum or none, got ${shown(reduction)}`);
  }
  const { backend, dtype } = logits;
  const target = placeOver(targets, targets.shape);
  const type = ELEMENT_TYPES[targets.dtype].value as 'i32' | 'u32';
  const params = ignoreIndex === undefined ? {} : { ignore: ignoreIndex };
  const hasIgnored = ignoreIndex !== undefined;
  const lossesInto = (result: Tensor): void => {
    const rows = placeOver(logits, logits.shape);
    const inputs = { x: rows, picked: { ...rows, shape: logits.shape }, target };
    const outputs = { loss: placeOver(result, result.shape) };
    launch('crossEntropy', [logits, targets], () => {
      launchKernel(backend, lossKernel(type, hasIgnored), { shape: logits.shape, folded: 1, inputs, params, outputs });
    });
  };
  if (reduction === 'none') return produce('crossEntropy', backend, targets.shape, dtype, { out }, lossesInto);
  return produce('crossEntropy', backend, [], dtype, { out }, (result) => {
    tidy(() => {
      // The losses stay float32, whatever the logits are.
      const losses = produce('crossEntropy', backend, targets.shape, 'f32', {}, lossesInto);
      const isCounted = reduction === 'mean' && hasIgnored;
      const loss = placeOver(losses, losses.shape);
      const call = {
        shape: targets.shape,
        folded: 1,
        inputs: isCounted ? { loss, target } : { loss },
        params: isCounted ? params : {},
        outputs: { y: { ptr: result.ptr, dtype: result.dtype } },
      };
      launch('crossEntropy', [logits, targets], () =>
        launchKernel(backend, totalKernel(reduction, type, isCounted), call),
      );
    });
  });
}

function checkOperands(logits: Tensor, targets: Tensor): void {
  const shown = `${logits.dtype}${shapeText(logits.shape)} with ${targets.dtype}${shapeText(targets.shape)}`;
  if (logits.rank !== 2 || targets.rank !== 1 || logits.shape[0] !== targets.shape[0]) {
    throw refuse('crossEntropy', `takes logits [n, c] with targets [n], got ${shown}`);
  }
  if (ELEMENT_TYPES[logits.dtype].value !== 'f32' || ELEMENT_TYPES[targets.dtype].value === 'f32') {
    throw refuse('crossEntropy', `takes floats as logits and integers as targets, got ${shown}`);
  }
  checkSameBackend('crossEntropy', logits.backend, [targets]);
}

const kernels = new Kernels();

function lossKernel(type: 'i32' | 'u32', hasIgnored: boolean): Kernel {
  return kernels.of(
    `loss ${type} ${hasIgnored}`,
    () =>
      defineKernel(
        'crossEntropy',
        {
          inputs: {
            x: 'f32',
            picked: { type: 'f32', access: 'gather', rank: 2 },
            target: { type, level: 'row' },
          },
          params: (hasIgnored ? { ignore: type } : {}) as { ignore: 'i32' },
        },
        ({ x, picked, target, ignore }, k) => {
          const own = target as Value<'i32'>;
          const loss = k.sub(logSumExpOf(k, x), k.gather(picked, [k.rowIndex(0), own], NaN));
          return { loss: hasIgnored ? k.select(k.eq(own, ignore), 0, loss) : loss };
        },
      ) as Kernel,
  );
}

function totalKernel(reduction: 'mean' | 'sum', type: 'i32' | 'u32', isCounted: boolean): Kernel {
  if (!isCounted) {
    return kernels.of(
      reduction,
      () =>
        defineKernel('crossEntropy', { inputs: { loss: 'f32' } }, ({ loss }, k) => ({
          y: reduction === 'sum' ? k.fold('sum', loss) : k.fold('mean', loss),
        })) as Kernel,
    );
  }
  return kernels.of(
    `${reduction} ${type}`,
    () =>
      defineKernel(
        'crossEntropy',
        { inputs: { loss: 'f32', target: type }, params: { ignore: type } },
        (symbols, k) => {
          const target = symbols.target as Value<'i32'>;
          const counted = k.fold('count', k.ne(target, symbols.ignore as Value<'i32'>));
          return { y: k.div(k.fold('sum', symbols.loss), k.toF32(counted)) };
        },
      ) as Kernel,
  );
}
