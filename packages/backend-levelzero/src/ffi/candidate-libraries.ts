/** The settings that decide where to look for the loader of Level Zero. */
export interface LibraryPlace {
  readonly platform: string;
  readonly arch: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** Names and paths of the loader, in the order in which they are tried; empty where Level Zero does not exist. */
export function candidateLibraries({ platform, arch, env }: LibraryPlace): readonly string[] {
  if (arch !== 'x64') return [];
  if (platform === 'linux') {
    const folders = ['/usr/lib/x86_64-linux-gnu', '/usr/lib64', '/usr/lib', '/usr/local/lib', '/run/opengl-driver/lib'];
    return ['libze_loader.so.1', 'libze_loader.so', ...folders.map((folder) => `${folder}/libze_loader.so.1`)];
  }
  if (platform === 'win32') {
    return ['ze_loader.dll', `${env['SystemRoot'] ?? 'C:\\Windows'}\\System32\\ze_loader.dll`];
  }
  return [];
}
