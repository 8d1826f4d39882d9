export default { output: 'export', basePath: '/next/out', trailingSlash: true };
