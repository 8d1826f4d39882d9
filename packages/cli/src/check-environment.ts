import { levelZeroVariants } from '@concord/backend-levelzero';
import { webgpuVariants } from '@concord/backend-webgpu';
import { checkTuningEnvironment } from '@concord/variants';

/**
 * Checks what the environment says of the kernel variants of our backends.
 *
 * @throws {BackendError} INVALID_ARGUMENT when it names a variant that there is not
 */
export function checkEnvironment(): void {
  checkTuningEnvironment([webgpuVariants, levelZeroVariants]);
}
