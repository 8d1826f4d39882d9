import { drawScene } from './draw-scene.ts';
import { writePng } from './png-file.ts';

// Made `pictures/scene.png`: `node dist/draw.js pictures/scene.png`.
await writePng(process.argv[2] ?? 'scene.png', drawScene(320, 200));
