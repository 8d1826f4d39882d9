// @ts-check
// The GPUs that the driver can be told to find without one, and how it is told.
import { join } from 'node:path';
import { driverIn, folder, librariesIn } from './cache.mjs';

/** @typedef {'skl' | 'tgl' | 'dg2' | 'pvc' | 'pvc2'} Product */
/**
 * @typedef {object} ProductInfo
 * @property {string} title
 * @property {Product} code the product whose machine code it runs: itself, or the one that it is two of
 * @property {string} iga its platform, as Intel's disassembler has it
 * @property {Record<string, string>} settings debug keys of the driver
 */

/** @param {string} family @param {string} device @param {string} shape slices, sub-slices of each, units of each */
const settings = (family, device, shape) => ({
  ProductFamilyOverride: family,
  ForceDeviceId: device,
  HardwareInfoOverride: shape,
});
const pvc = settings('pvc', '0x0bd5', '8x8x8');

/** @type {Readonly<Record<Product, ProductInfo>>} */
export const products = {
  skl: { title: 'Gen9, Skylake', code: 'skl', iga: '9', settings: settings('skl', '0x1912', '1x3x8') },
  tgl: { title: 'Xe-LP, Tiger Lake', code: 'tgl', iga: '12p1', settings: settings('tgllp', '0x9a49', '1x6x16') },
  dg2: { title: 'Xe-HPG, Arc A770', code: 'dg2', iga: '12p71', settings: settings('dg2', '0x56a0', '8x4x16') },
  pvc: { title: 'Xe-HPC, one tile of Ponte Vecchio', code: 'pvc', iga: '12p72', settings: pvc },
  pvc2: {
    title: 'Xe-HPC, Ponte Vecchio with two tiles',
    code: 'pvc',
    iga: '12p72',
    settings: { ...pvc, CreateMultipleSubDevices: '2' },
  },
};

/** @type {readonly Product[]} */
export const productNames = /** @type {Product[]} */ (Object.keys(products));

/**
 * The environment of a program that finds this product, and no other device, through Intel's driver.
 *
 * @param {Product} product
 * @param {string} captures a folder for what would go to the GPU: megabytes, for every program
 * @param {string} [unpacked] the driver's packages
 * @returns {Record<string, string>}
 */
export function environmentOf(product, captures, unpacked = folder) {
  const given = process.env['LD_LIBRARY_PATH'];
  return {
    ...products[product].settings,
    NEOReadDebugKeys: '1',
    // Command buffers are written to a file, in the format AUB.
    SetCommandStreamReceiver: '1',
    AUBDumpCaptureFileName: join(captures, product),
    // Where a folder of this name exists, this version keeps modules there by their words, and forgets that
    // specialisation constants differ. Its default name is relative to wherever the program runs.
    l0_cache_dir: join(captures, 'no-cache'),
    ZE_ENABLE_ALT_DRIVERS: driverIn(unpacked),
    LD_LIBRARY_PATH: librariesIn(unpacked) + (given ? `:${given}` : ''),
  };
}
