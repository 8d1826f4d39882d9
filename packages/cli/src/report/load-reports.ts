import { readFile } from 'node:fs/promises';
import { printable } from '@concord/backend-core';
import { Ajv2020, type AnySchemaObject, type ValidateFunction } from 'ajv/dist/2020.js';
import type { BenchJson } from '../bench/bench-json.ts';
import { CommandError, messageOf } from '../command-error.ts';
import type { ConformanceJson } from '../conformance/backend-run.ts';

/**
 * Reads reports and holds each against its schema.
 *
 * @throws {CommandError} CANNOT_READ for a file that is not there or is no JSON, NO_REPORT for JSON of another form
 */
export async function loadReports(files: readonly string[]): Promise<readonly ReportFile[]> {
  const validators = { conformance: await validatorOf('conformance'), bench: await validatorOf('bench') };
  const reports: ReportFile[] = [];
  for (const file of files) {
    const text = await readFile(file, 'utf8').catch((cause: unknown) => {
      throw cannotRead(file, cause);
    });
    const content = parsed(file, text);
    const kind = kindOf(content);
    if (kind === undefined) throw noReport(file, 'it has no "cases"');
    const validate = validators[kind];
    if (!validate(content)) {
      const [error] = validate.errors ?? [];
      throw noReport(file, `${error?.instancePath || 'it'} ${error?.message}`);
    }
    const read: unknown = JSON.parse(text, kind === 'bench' ? revivePrintable : reviveNumber);
    if (kind === 'bench') reports.push({ file, kind, content: read as BenchJson });
    else reports.push({ file, kind, content: [read].flat() as ConformanceJson[] });
  }
  return reports;
}

async function validatorOf(kind: ReportFile['kind']): Promise<ValidateFunction> {
  const text = await readFile(new URL(`../../schema/${kind}.json`, import.meta.url), 'utf8');
  return new Ajv2020({ allowUnionTypes: true }).compile(JSON.parse(text) as AnySchemaObject);
}

/** A report of conformance is an object, or a list of them; one of bench says by which method it was measured. */
function kindOf(value: unknown): ReportFile['kind'] | undefined {
  const first: unknown = Array.isArray(value) ? value[0] : value;
  if (typeof first !== 'object' || first === null || !('cases' in first)) return undefined;
  return 'method' in first ? 'bench' : 'conformance';
}

/** Fields that hold a number even where JSON has none for it, and a string has to stand for it. */
const NUMBERS = new Set(['got', 'want', 'bound', 'ulp']);

function reviveNumber(key: string, value: unknown): unknown {
  return NUMBERS.has(key) && typeof value === 'string' ? Number(value) : revivePrintable(key, value);
}

/** Texts of a file go to a terminal. */
function revivePrintable(_: string, value: unknown): unknown {
  return typeof value === 'string' ? printable(value) : value;
}

function parsed(file: string, text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch (cause) {
    throw cannotRead(file, cause);
  }
}

function cannotRead(file: string, cause: unknown): CommandError {
  const reason = messageOf(cause);
  return new CommandError(`cannot read ${file}: ${reason}`, { code: 'CANNOT_READ', hint: HINT, cause });
}

function noReport(file: string, fault: string): CommandError {
  return new CommandError(`${file} is not a report: ${fault}`, { code: 'NO_REPORT', hint: HINT });
}

const HINT = 'give files that concord conformance --json, concord bench --json or the page "Test my GPU" wrote';

/** A report as it was read. */
export type ReportFile =
  | { readonly file: string; readonly kind: 'conformance'; readonly content: readonly ConformanceJson[] }
  | { readonly file: string; readonly kind: 'bench'; readonly content: BenchJson };
