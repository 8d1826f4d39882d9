/** A pointer of the driver's. koffi gives all of them as plain integers; the brand keeps one kind from passing for another. */
export type Handle<Kind extends string> = bigint & { readonly __levelZeroHandle: Kind };

export type DriverHandle = Handle<'driver'>;
export type DeviceHandle = Handle<'device'>;
export type ContextHandle = Handle<'context'>;
export type QueueHandle = Handle<'queue'>;
export type CommandListHandle = Handle<'command list'>;
export type FenceHandle = Handle<'fence'>;
export type ModuleHandle = Handle<'module'>;
export type BuildLogHandle = Handle<'build log'>;
export type KernelHandle = Handle<'kernel'>;

/** Where a function of the driver writes a handle. */
export type HandleSlot<Kind extends string> = BigUint64Array & { readonly __levelZeroHandle: Kind };

/** An empty slot for one handle. */
export function handleSlot<Kind extends string>(): HandleSlot<Kind> {
  return new BigUint64Array(1) as HandleSlot<Kind>;
}

/** The value that the driver wrote into a slot. */
export function handleIn<Kind extends string>(slot: HandleSlot<Kind>): Handle<Kind> {
  return (slot[0] ?? 0n) as Handle<Kind>;
}
