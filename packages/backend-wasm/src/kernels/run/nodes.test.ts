import { describeNodes } from '../../../../backend-cpu/test/run-nodes.ts';
import { runInline } from '../../../test/support/run-inline.ts';

describeNodes(runInline, 20);
