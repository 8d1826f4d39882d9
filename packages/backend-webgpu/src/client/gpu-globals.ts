// The types of WebGPU that this package's own are made of. They come with TypeScript's library of a page from version 6 on, or
// with `@webgpu/types`. With either, the declarations here are one with those there and add nothing; without, the types of this
// package still compile, and these say nothing of what is behind them.
declare global {
  interface GPU {}
  interface GPUAdapter {}
  interface GPUAdapterInfo {}
  interface GPUBindGroupLayout {}
  interface GPUBuffer {}
  interface GPUCommandEncoder {}
  interface GPUComputePipeline {}
  interface GPUDevice {}
  interface GPUDeviceLostInfo {}
  interface GPUPipelineLayout {}
  interface GPUQueue {}
}

export {};
