import type { Attempt } from '@concord/backend-core';
import { tryBackends } from '../backends.ts';
import { serveTask } from '../task.ts';

serveTask<null, never, readonly Attempt[]>(tryBackends);
