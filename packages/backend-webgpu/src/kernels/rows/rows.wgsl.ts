import { WgslBlock } from '../arithmetic/wgsl-block.ts';
import { defineKernel, type Kernel } from '../kernel.ts';
import { paramUniforms, storageOf, accessFunctions, uniformsOf } from '../run/run-spec.ts';
import { RowsCode } from './rows-code.ts';
import { lanesOf } from './team.ts';
import { type RowsSpec, stageUniforms } from './rows-spec.ts';

/**
 * A graph with folds. A team of lanes takes a row, or part of one; the folds of a phase are computed together, and those
 * of the next phase know them. Rows are kept in registers, or read again in each phase.
 */
export function rowsKernel(name: string, spec: RowsSpec): Kernel {
  const block = new WgslBlock();
  const code = new RowsCode(spec, block);
  code.write();
  const usesSubgroups = spec.team.subgroup > 0 && spec.team.team > 1;
  return defineKernel({
    name,
    storage: {
      ...storageOf(spec),
      ...(spec.stage === undefined ? {} : { scratch: { access: 'read_write', type: 'array<u32>' } as const }),
    },
    uniforms: { ...uniformsOf(spec), ...stageUniforms(spec) },
    params: paramUniforms(spec),
    features: usesSubgroups ? ['subgroups'] : [],
    code: /* wgsl */ `
${accessFunctions(spec).join('\n')}
${code.declarations.join('\n')}
@compute @workgroup_size(${lanesOf(spec.team)})
fn main(
  @builtin(workgroup_id) id: vec3u,
  @builtin(num_workgroups) grid: vec3u,
  @builtin(local_invocation_index) lane: u32,
) {
${block.text()}
}`,
  });
}
