import type { ShippedProfile } from '@concord/variants';

/** `concord tune` on one H200: what won in each of three runs. */
export const nvidiaH200: ShippedProfile = {
  device: { vendor: 'nvidia', name: 'nvidia-h200' },
  driver: 'WebGPU on NVIDIA: 580.159.04 580.159.4.0',
  tunedAt: '2026-11-23',
  choices: {
    // 0.135 to 0.092 ms for 16 x 4096 x 4096, 0.091 to 0.081 for 32, 0.116 to 0.097 for 64.
    'gemm f32 NN 4 12 12 0': 'gemm/tiled-32x64x16',
    'gemm f32 NN 5 12 12 0': 'gemm/tiled-32x64x16',
    'gemm f32 NN 6 12 12 0': 'gemm/tiled-32x32x32',
  },
};
