// The tools in the upper half of a header's generator word, as the Khronos registry lists them and spirv-dis prints them.
const TOOLS: readonly string[] = [
  ...['Khronos', 'LunarG', 'Valve', 'Codeplay', 'NVIDIA', 'ARM', 'Khronos LLVM/SPIR-V Translator'],
  ...[
    'Khronos SPIR-V Tools Assembler',
    'Khronos Glslang Reference Front End',
    'Qualcomm',
    'AMD',
    'Intel',
    'Imagination',
  ],
  ...['Google Shaderc over Glslang', 'Google spiregg', 'Google rspirv', 'X-LEGEND Mesa-IR/SPIR-V Translator'],
  ...['Khronos SPIR-V Tools Linker', 'Wine VKD3D Shader Compiler', 'Tellusim Clay Shader Compiler'],
  ...['W3C WebGPU Group WHLSL Shader Translator', 'Google Clspv', 'Google MLIR SPIR-V Serializer'],
  ...['Google Tint Compiler', 'Google ANGLE Shader Compiler', 'Netease Games Messiah Shader Compiler'],
  ...['Xenia Xenia Emulator Microcode Translator', 'Embark Studios Rust GPU Compiler Backend'],
  ...['gfx-rs community Naga', 'Mikkosoft Productions MSP Shader Compiler'],
  ...['SpvGenTwo community SpvGenTwo SPIR-V IR Tools', 'Google Skia SkSL', 'TornadoVM SPIRV Beehive Toolkit'],
  ...['DragonJoker ShaderWriter', 'Rayan Hatout SPIRVSmith', 'Saarland University Shady', 'Taichi Graphics Taichi'],
];

/** The generator word as the header comment has it: the tool, then the tool's own number. */
export function formatGenerator(word: number): string {
  const tool = word >>> 16;
  return `${TOOLS[tool] ?? `Unknown(${tool})`}; ${word & 0xffff}`;
}

/** The generator word behind such a comment; undefined when it is none. */
export function parseGenerator(text: string): number | undefined {
  const match = /^(.*); (\d+)$/.exec(text);
  if (!match) return undefined;
  const [, name = '', number] = match;
  const unknown = /^Unknown\((\d+)\)$/.exec(name);
  const tool = unknown ? Number(unknown[1]) : TOOLS.indexOf(name);
  return tool < 0 || tool > 0xffff || Number(number) > 0xffff ? undefined : ((tool << 16) | Number(number)) >>> 0;
}
