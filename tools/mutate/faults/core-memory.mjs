// @ts-check

const implementAllocationTable = 'packages/backend-core/src/implement/allocation-table.ts';
const implementAddressSlots = 'packages/backend-core/src/implement/address-slots.ts';
const implementLifecycle = 'packages/backend-core/src/implement/lifecycle.ts';
const implementCapture = 'packages/backend-core/src/implement/capture.ts';
const implementSlots = 'packages/backend-core/src/implement/recording-slots.ts';
const implementMemoryMethods = 'packages/backend-core/src/implement/memory-methods.ts';
const contractChecks = 'packages/backend-core/src/contract/checks.ts';
const contractMemoryValidate = 'packages/backend-core/src/contract/memory.validate.ts';

/** Faults of the core: the table of allocations, the life of a backend, waits.
 *
 * @type {import('../plant.mjs').Fault[]}
 */
export const coreMemoryFaults = [
  {
    file: implementSlots,
    find: '    this.#others.set(use.buffer, uses);',
    replace: '',
    breaks: 'A replay works on memory that was freed, and perhaps given to others.',
  },
  {
    file: implementSlots,
    find: 'memory.byteOffset + operand.byteOffset - (this.#slots[slot] as Slot<Buffer>).byteOffset',
    replace: 'memory.byteOffset',
    breaks: 'What lies further on in a slot is computed with what is at its start.',
  },
  {
    file: implementSlots,
    find: '(a.isWritten || b.isWritten) && doOverlap(a, b)',
    replace: 'a.isWritten && doOverlap(a, b)',
    breaks: 'A replay reads memory that it also writes, where it is given it as an input.',
  },
  {
    file: implementCapture,
    find: 'memory?.buffer === b[slot]?.buffer && memory?.byteOffset === b[slot]?.byteOffset',
    replace: 'memory?.buffer === b[slot]?.buffer',
    breaks: 'A replay with other memory of one allocation takes what the one before was given.',
  },
  {
    file: implementCapture,
    find: 'this.#spare.findIndex((each) => each.bytes === bytes)',
    replace: 'this.#spare.findIndex((each) => each.bytes <= bytes)',
    breaks: 'An allocation of a recording lies in memory that is too small.',
  },
  {
    file: implementMemoryMethods,
    find: 'const copy = bytes.slice();',
    replace: 'const copy = bytes;',
    breaks: 'A replay copies what the caller has put into its array since.',
  },
  {
    file: implementAllocationTable,
    find: 'ptr < allocation.base + allocation.bytes ? allocation',
    replace: 'ptr <= allocation.base + allocation.bytes ? allocation',
    breaks: 'A pointer just after an allocation still names it.',
  },
  {
    file: implementAllocationTable,
    find: 'if (byteOffset + byteLength > allocation.bytes) {',
    replace: 'if (byteOffset + byteLength > allocation.bytes + 1) {',
    breaks: 'An operand may reach one byte beyond its allocation.',
  },
  {
    file: implementAllocationTable,
    find: '    this.#live.delete(ptr);',
    replace: '',
    breaks: 'Freed memory can be freed again.',
  },
  {
    file: implementAllocationTable,
    find: '    this.#inUseBytes += bytes;',
    replace: '    this.#inUseBytes += reservedSize(bytes);',
    breaks: 'Memory in use is counted in whole units of the table.',
  },
  {
    file: implementAllocationTable,
    find: 'if (last !== undefined && last.start + last.size === range.start) last.size += range.size;',
    replace: 'if (last !== undefined && last.start + last.size === range.start) last.size = range.size;',
    breaks: 'A freed range is lost once the address space was used up.',
  },
  {
    file: implementAllocationTable,
    find: '    range.start += size;',
    replace: '',
    breaks: 'Two allocations overlap when a freed range is cut.',
  },
  {
    file: implementAllocationTable,
    find: 'return (Math.ceil(bytes / ALIGNMENT) + 1) * ALIGNMENT;',
    replace: 'return Math.ceil(bytes / ALIGNMENT) * ALIGNMENT;',
    breaks: 'There is no gap after an allocation: a pointer past its end names the next one.',
  },
  {
    file: implementAllocationTable,
    find: 'if ((this.#bases[middle] as number) <= address) low = middle + 1;',
    replace: 'if ((this.#bases[middle] as number) < address) low = middle + 1;',
    breaks: 'Allocations are found in the wrong order: a pointer names the one before.',
  },
  {
    file: implementAllocationTable,
    find: '    if (this.#fresh + size <= this.#end) {',
    replace: '    if (this.#free.length === 0 && this.#fresh + size <= this.#end) {',
    breaks: 'An address that was freed is given out at once, so that a stale pointer names new memory.',
  },
  {
    file: implementAddressSlots,
    find: 'state.released.shift();',
    replace: 'state.released.pop();',
    breaks: "The slot that was given back last is used first, so that stale pointers name another backend's memory.",
  },
  {
    file: implementAddressSlots,
    find: '  slotState().released.push(slot);',
    replace: '  void slot;',
    breaks: 'Slots are never given back: after 2047 backends there are no more.',
  },
  {
    file: implementAddressSlots,
    find: 'state.next++ :',
    replace: 'state.next :',
    breaks: 'Two backends own the same addresses.',
  },
  {
    file: implementLifecycle,
    find: `      this.#initializing = undefined;
      throw annotate`,
    replace: '      throw annotate',
    breaks: 'A backend whose init failed cannot try again.',
  },
  {
    file: implementLifecycle,
    find: '    await this.#initializing?.catch(() => undefined);',
    replace: '',
    breaks: 'A device that opens after dispose stays open.',
  },
  {
    file: implementLifecycle,
    find: '    this.#disposing ??= this.#dispose();',
    replace: '    this.#disposing = this.#dispose();',
    breaks: 'Disposing twice closes the device twice.',
  },
  {
    file: implementLifecycle,
    find: "    this.#rejectPending(this.#error('DISPOSED'));",
    replace: '',
    breaks: 'Waits under way hang when their backend is disposed.',
  },
  {
    file: implementLifecycle,
    find: '    this.#rejectPending(this.#lostError);',
    replace: '',
    breaks: 'Waits under way hang when the device is lost.',
  },
  {
    file: implementLifecycle,
    find: '    this.#rejectPending(this.#stickyError);',
    replace: '',
    breaks: 'Waits under way resolve although work has failed.',
  },
  {
    file: implementLifecycle,
    find: '    if (this.#stickyError !== undefined) throw this.#stickyError;',
    replace: '',
    breaks: 'Calls after a failure are accepted.',
  },
  {
    file: implementLifecycle,
    find: `        reject(signal.reason);
        return;`,
    replace: '        void signal.reason;',
    breaks: 'A wait that was aborted before it began goes on.',
  },
  {
    file: implementLifecycle,
    find: "      signal?.addEventListener('abort', onAbort);",
    replace: '',
    breaks: 'A wait does not end when its signal aborts.',
  },
  {
    file: implementLifecycle,
    find: `        clearTimeout(timer);
        signal`,
    replace: '        signal',
    breaks: 'A process stays alive for the time limit of a wait that has ended.',
  },
  {
    file: implementLifecycle,
    find: "        signal?.removeEventListener('abort', onAbort);",
    replace: '',
    breaks: 'A signal keeps every wait that it was given to.',
  },
  {
    file: implementLifecycle,
    find: '    await Promise.race([work, deadline]);',
    replace: '    await work;',
    breaks: 'A device that never closes hangs dispose.',
  },
  {
    file: implementLifecycle,
    find: '      await withoutError(() => backend.dispose());',
    replace: '',
    breaks: 'A failed create leaves its device open.',
  },
  {
    file: implementMemoryMethods,
    find: 'inUseBytes + bytes > limitBytes',
    replace: 'inUseBytes > limitBytes',
    breaks: 'The memory limit can be exceeded by one allocation.',
  },
  {
    file: implementMemoryMethods,
    find: `        this.doFree(buffer);
        throw error;`,
    replace: '        throw error;',
    breaks: 'Native memory is lost when the address space is full.',
  },
  {
    file: implementMemoryMethods,
    find: '            if (!isWanted()) return;',
    replace: '',
    breaks: 'A read writes into the view of a caller who has given up.',
  },
  {
    file: implementMemoryMethods,
    find: 'if (Math.abs(dst - src) < bytes) throw',
    replace: 'if (dst === src) throw',
    breaks: 'Copies between overlapping ranges are accepted.',
  },
  {
    file: implementMemoryMethods,
    find: '    if (this.#slot !== undefined) releaseSlot(this, this.#slot);',
    replace: '',
    breaks: 'The slot of a disposed backend is lost.',
  },
  {
    file: contractChecks,
    find: '  const copy = copyList(name, value);',
    replace: '  const copy = value as unknown[];',
    breaks: 'Sizes that change between their check and their use pass.',
  },
  {
    file: contractChecks,
    find: 'checkedExtent(name, (rows - 1) * rowStride + columns);',
    replace: 'checkedExtent(name, (rows - 1) * rowStride);',
    breaks: 'The extent of a matrix lacks its last row.',
  },
  {
    file: contractMemoryValidate,
    find: 'return new Uint8Array(buffer(view), byteOffset(view), byteLength(view));',
    replace: 'return new Uint8Array(buffer(view), 0, byteLength(view));',
    breaks: "Only the beginning of a view's buffer is copied.",
  },
  {
    file: contractMemoryValidate,
    find: '(byte as number) > 255',
    replace: '(byte as number) > 256',
    breaks: 'A fill with 256 is accepted.',
  },
];
