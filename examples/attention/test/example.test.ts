import { runOnDevice, TESTED_BACKENDS } from '@concord/example-command/testing';
import { expect, test } from 'vitest';

test.each(TESTED_BACKENDS)('on %s, causal and not', (backend) => {
  for (const causal of [[], ['--causal']]) {
    const args = ['--dir', 'docs', '--backend', backend, ...causal, 'every backend is held to the oracle'];
    const { code, stdout, stderr } = runOnDevice(backend, 'attention', args);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(/^word +attends to\nevery +every \d+%/);
    expect(stdout).toContain(`Backend  ${backend}: `);
    expect(stdout).toMatch(/Check    passed: [\d,]+ values against the float64 oracle/);
  }
});
