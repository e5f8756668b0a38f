/** A page in the browser that shows what agents do, did, and would have done. */

export { inspect, type InspectOptions, type InspectorPage } from './inspect.ts'
export { type InspectorHandler, inspectorHandler, type InspectorHandlerOptions } from './handler.ts'
export { CopyingSource } from './copies/copying-source.ts'
export { LivingSource } from './living-source.ts'
export { RunSource, type RunSourceOptions } from './run-source.ts'
export type { News, Source } from './source.ts'
export { StoreSource, type StoreSourceOptions } from './store-source.ts'
