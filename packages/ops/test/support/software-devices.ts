import '../../../backend-levelzero/test/support/software-device.ts';
import '../../../backend-webgpu/test/support/software-device.ts';
