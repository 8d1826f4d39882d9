import { serveTask } from '../task.ts';
import { type RunProgress, type RunRequest, type RunResult, runProgram } from './run-program.ts';

serveTask<RunRequest, RunProgress, RunResult>(runProgram);
